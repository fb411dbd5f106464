"""The world as it is: one checkout, and what several workflows do there: landing, reviewers, evidence notes, workspaces made ready.

How a thing is done is in effects/ and git/. Nothing here decides, and nothing here knows a workflow by name.
"""
