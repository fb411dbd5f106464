"""One checkout, and what several workflows do in it: landing, asking reviewers, evidence notes, preparing workspaces.

The git operations are in effects/ and git/. Decides nothing, and knows no workflow by name.
"""
