"""What the tables of all workflows are built from: shared changes and rows, what every run stands on, flags, briefings, prompts, the proof card.

Knows no workflow by name.
"""
