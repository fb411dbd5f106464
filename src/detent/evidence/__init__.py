"""Evidence: what can be seen of a submit, and how tests are run and read. Never believes an agent's word.

Its rooms, from the top to the bottom, are in docs/architecture.md; imports among them only go down.
"""
