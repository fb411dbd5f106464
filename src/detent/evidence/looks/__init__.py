"""The whole look: `RepoLook` answers the gates about one submit, `look_over` makes the proof card of a whole branch.

Puts together what the other rooms find. Must not know workflows, states or what follows from an answer.
"""
