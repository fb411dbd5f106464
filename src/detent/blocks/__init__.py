"""What all workflows' tables are built from: shared changes and rows, common run data, flags, briefings, prompts, the proof card.

Knows no workflow by name.
"""
