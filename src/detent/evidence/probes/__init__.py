"""Flags that trying something raises: mutations, expectations turned, tests under other names, other dates, calls without a test.

Each probe works with a `ProbeContext` and within its seconds. Must not know steps, gates or how a card is put together.
"""
