"""The four workflows, each a table over one kernel."""
