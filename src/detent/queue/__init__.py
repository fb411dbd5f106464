"""The queue: which executions are wanted, and which worker holds which. What an execution does is only in its journal.

`queue_protocol` has the values; the durable engine (DBOS) behind them is imported only when a queue is opened.
"""
