"""Static analysis: flags raised by reading a change, one module per kind or a few for a family. Entry point: `static_flags`.

Runs nothing. Must not know outcomes or gates.
"""
