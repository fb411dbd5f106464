"""Effects: what the machine does to the world. Named and typed here; who performs them is handed to the door by the composition root.

An owed effect can only succeed or be done again, so performing it twice must do no harm. A job decides by its outcome.
"""
