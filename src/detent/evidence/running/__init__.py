"""Running tests: clean checkouts and installed dependencies, the canary, caches, reports kept by tree, commands that must pass.

Tree and command in, report out. Must not know what a change is, what a result proves, or any mutation.
"""
