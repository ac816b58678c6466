"""The atlas of puzzles: ``python -m workshop.atlas`` computes every table of ``docs/atlas.md`` and writes the page."""
