"""The kernel: workflow tables and the pure decisions made over them. Knows no file, clock, git, process or workflow."""
