"""The kernel: tables of states and moves, pure decisions, and the journal. Knows no git, no process, no workflow."""
