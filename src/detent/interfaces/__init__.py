"""The doors to the outside: command line, MCP, hooks, HTTP. They turn calls into values for the one door, and values into text."""
