"""The workflows, one folder each: table, data, effects, jobs, start, briefings, prompts, and the `Workflow` value that names them.

Nothing outside a folder knows what is in it: `app/registry.py` finds each value by name, as it does for workflows of other packages.
"""
