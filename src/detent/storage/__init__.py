"""The machine's own files: the user's state folder, secrets and seals kept there, scratch folders. Knows no run."""
