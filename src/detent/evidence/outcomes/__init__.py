"""What became of each test between two trees, why it failed, and the values that say so: outcomes, reasons, the proof card, claims.

The one notion of proof that gates, landing, `verify` and `check` share. Must not know mutations or gates.
"""
