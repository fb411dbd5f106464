"""Flags that reading a change raises: a module for each kind, or a few for a family. Entry: `static_flags`.

Runs nothing, and must not know outcomes or gates.
"""
