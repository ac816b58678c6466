"""Programs that write puzzles, the atlas, the man page and the documentation site, and recipes of packages."""
