"""The outcome of each test between two trees, why it failed, and the values built from that: outcomes, reasons, the proof card, claims.

Owns the one definition of proof, shared by gates, landing, `verify` and `check`. Must not know mutations or gates.
"""
