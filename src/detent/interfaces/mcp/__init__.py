"""The MCP server: the four calls of an agent and `check` as tools, over stdio or over HTTP on loopback. Decides nothing.

Only these modules import the protocol's package; app/ is not imported before the first call.
"""
