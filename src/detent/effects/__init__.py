"""Effects: what the machine does to repositories and files. Named and typed here; the door is handed whoever performs them.

An owed effect can only succeed or be done again, so performing it twice must do no harm. A job decides by its outcome.
"""
