"""The kernel: tables of states and moves, and pure decisions. Knows no file, no clock, no git, no process, no workflow."""
