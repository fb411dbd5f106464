"""The whole look: `RepoLook` answers the gates about one submit, and `look_over` makes the proof card of a branch.

Combines what the other rooms find. Must not know workflows, states or what follows from an answer.
"""
