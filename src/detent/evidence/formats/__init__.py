"""Readers of what test runners write for machines. Each gives plain cases; none knows a runner, a tree or a gate."""
