"""The MCP server: the four calls of an agent and a look at its own work as tools, over standard input and output or over HTTP on loopback.

Words in, words out, no decisions. Only these modules know the protocol's package; nothing of the app is imported before the first call.
"""
