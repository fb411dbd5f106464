"""Detent holds a coding agent at every step until evidence releases it."""

__version__ = "0.1.0"
