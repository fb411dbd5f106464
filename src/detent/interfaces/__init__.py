"""The interfaces: command line, MCP, hooks, HTTP. They turn calls into values for app/, and its values into text."""
