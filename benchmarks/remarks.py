"""The reasons why results miss their targets, by section and measurement. The page shows them behind these results."""

_START = "most of this time goes into starting Python and loading libraries"

REMARKS = {
    "Distance tables: `antipodes run three-colours`, whole command": _START,
    "Distance tables: `antipodes run three-colours`, whole command with nothing compiled": (
        "compiling the kernels takes most of this time"
    ),
    "Large tables: `seven-tiles`, cost of a commit after each layer": (
        "every layer is synced to disk; by default, commits take at most a tenth of the time of a run"
    ),
    "Large tables: eight tiles, `antipodes query`, one position": _START,
    "Puzzles of all kinds: the slowest `antipodes plan` of all bundled puzzles": (
        "`plan` searches the beginning of the run to estimate its time"
    ),
    "Positions as keys: `three-colours` as keys, 12,108,096 positions": (
        "the program's start, the sample of keys and the assembly of the table take longer than the search"
    ),
    "Positions as keys: `three-colours` as keys, two processes": "the processes send each other keys",
    "Positions as keys: a board of blocks, 67,087,568 positions": (
        "sorting, merging and encoding the keys take longer than the moves"
    ),
    "Positions as keys: dials with moves in Python, 19,487,171 positions": ("numpy computes the successors"),
    "Tilings: `6x10`, search phase, 1,807,812 placements, 2 threads": (
        "it tries a sixth of the placements, but each one takes about three times as long"
    ),
    "Tilings: `antipodes tile 6x10`, whole command": _START,
    "Pattern tables: loading both tables of the 15-puzzle: for the first time, from the cache": (
        "the cached tables are read, not mapped into memory"
    ),
    "Pattern tables: Korf's hundred positions, one thread: mean nodes; total time; nodes per second": (
        "the tables are larger than the processor's caches, so most nodes wait for memory"
    ),
    "Pattern tables: 24-puzzle, number 38, four tables of six tiles: nodes; time; nodes per second": (
        "the tables are larger than the processor's caches, so most nodes wait for memory"
    ),
    "The service: `seven-tiles`, time per move, 20 clients, next move immediately after each answer": (
        "the clients use the same two cores as the service"
    ),
    "Clusters: `antipodes run seven-tiles` on 2 threads and on 2 processes, whole command": (
        "processes send frontiers to each other, and each loads the program and the move tables"
    ),
}
