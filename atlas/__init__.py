"""The atlas of puzzles: ``python -m atlas`` computes every table of ``docs/atlas.md`` and writes the page."""
