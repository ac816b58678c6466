"""What a cut into rows and columns costs a search, from the counts of its tables alone."""

ROW_COST = 80
"""Time to read a row once for a move, in positions that a search expands by it. This and the following are measured
with skewb, dino, pyraminx and 2x2x2 at all cuts: rows of 250 columns take twice as long as rows of 2,500."""
WIDE_COST, ONE_MAP = 0.5, 1 << 15
"""More time where a column map is of more bytes than the first cache holds, in the same unit."""
MAPS_COST, ALL_MAPS = 0.3, 1 << 21
"""More time where all column maps are of more bytes than the second cache holds."""
COLUMN_BYTES = 4


def search_cost(rows: int, width: int, moves: int, column_maps: int) -> float:
    """Relative time of a search: it reads a row for each move, and column maps from one cache or another."""
    maps, positions = column_maps * width * COLUMN_BYTES, rows * width
    slower = WIDE_COST * (COLUMN_BYTES * width > ONE_MAP) + MAPS_COST * (maps > ALL_MAPS)
    return ROW_COST * rows * moves + maps / COLUMN_BYTES + slower * positions * moves
