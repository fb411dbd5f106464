"""Running tests: clean checkouts and what is installed for them, the canary, caches, reports kept by tree, commands that must pass.

Must not know what a change is, what a result proves, or any mutation: a tree and a command in, a report out.
"""
