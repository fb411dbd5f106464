"""Probes: flags raised by trying something beside the plain test run, such as mutations, inverted expectations, renamed tests, other dates, or
calling the code without a test.

Each probe gets a `ProbeContext` and keeps to its time limit. Must not know steps, gates or how a card is made.
"""
