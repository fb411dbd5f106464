"""The hooks of clients: `detent hook CLIENT` reads one event on standard input and answers in the client's own format.

The run of the checkout decides; `hook_clients.py` has each client's names of tools and format of answers.
"""
