"""Evidence: runs the tests of a submit, reads their reports and inspects the change. Never takes an agent's word for anything.

docs/architecture.md lists its rooms from top to bottom; imports among them only go down.
"""
