"""The journal: events as rows that are chained and signed, in SQLite or PostgreSQL, claims on runs, and the anchor that vouches for the last row. Knows no workflow."""
