"""git: where repositories are, and (in one module) the only caller of the git program."""
