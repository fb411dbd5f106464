"""The machine's own files: the user's state folder with secrets and seals, and scratch folders. Knows no run."""
