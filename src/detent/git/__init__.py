"""git: finding repositories, and (in one module) the only caller of the git program."""
