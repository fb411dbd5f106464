"""The hooks of clients: `detent hook CLIENT` reads one event on standard input and answers in the client's own form.

What is decided by is the run of the checkout; what a client calls its tools and how it wants to be answered is its row in `hook_clients.py`.
"""
