"""The workflows, one folder each: table, data, effects, jobs, start, briefings and prompts, and one value that names them all.

Nothing outside a folder knows what is in it: `app/registry.py` finds its value by name, as it finds those of other packages.
"""
