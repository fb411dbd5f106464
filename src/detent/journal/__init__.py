"""The journal: events as chained and signed rows in SQLite or PostgreSQL, claims on runs, and the anchor that vouches for the last row.

Knows no workflow.
"""
