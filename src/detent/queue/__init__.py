"""The queue: which executions are wanted, and which worker holds which. What an execution does is told by its journal, never here.

`protocol` is ours; behind it stands a durable engine that is imported only when a queue is opened.
"""
