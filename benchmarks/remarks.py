"""The reasons why results miss their targets, by section and measurement. The page shows them behind these results."""

_START = "most of this time goes into starting Python and loading libraries"
_OTHER_STEPS = (
    "the search takes a small part of this time; the rest is the start, the move tables and writing the table"
)
_MACHINE = "the target was set on a faster machine; compare with the C program in the first table"

REMARKS = {
    "Distance tables: `antipodes query`, one position, whole command": _START,
    "Distance tables: `antipodes --help`": _START,
    "Distance tables: `three-colours`, search phase": _MACHINE,
    "Distance tables: `antipodes run three-colours`, whole command": _START,
    "Distance tables: `antipodes run three-colours`, whole command with nothing compiled": (
        "compiling the kernels takes most of this time"
    ),
    "Large tables: eight tiles, `antipodes farthest`": _START,
    "Large tables: `seven-tiles` with a memory limit of 600 MiB": _MACHINE,
    "Large tables: `seven-tiles`, whole command": _MACHINE,
    "Large tables: `seven-tiles`, cost of a commit after each layer": (
        "every layer is synced to disk; by default, commits take at most a tenth of the time of a run"
    ),
    "Large tables: eight tiles, `antipodes query`, one position": _START,
    "Puzzles of all kinds: skewb, from `.tws`, 37,791,360 positions": _OTHER_STEPS,
    "Puzzles of all kinds: 2x2x2 without a fixed corner, from `.tws`, 88,179,840 positions": _OTHER_STEPS,
    "Puzzles of all kinds: the slowest `antipodes plan` of all bundled puzzles": (
        "`plan` searches the beginning of the run to estimate its time"
    ),
    "Positions as keys: a board of blocks, two processes": "the processes send each other keys",
    "Positions as keys: `three-colours` as keys, 12,108,096 positions": (
        "the program's start, the sample of keys and the assembly of the table take longer than the search"
    ),
    "Positions as keys: `three-colours` as keys, two processes": "the processes send each other keys",
    "Positions as keys: a board of blocks, 67,087,568 positions": (
        "sorting, merging and encoding the keys take longer than the moves"
    ),
    "Positions as keys: dials with moves in Python, 19,487,171 positions": ("numpy computes the successors"),
    "Tilings: `antipodes tile 8x8-minus-centre`, 65 tilings, whole command": _START,
    "Tilings: `6x10`, search phase, 1,807,812 placements, 2 threads": (
        "it tries a sixth of the placements, but each one takes about three times as long"
    ),
    "Tilings: `antipodes tile 6x10`, whole command": _START,
    "Pattern tables: the 31-move position of the 8-puzzle by `bidirectional`, time reported by `solve --json`": (
        _MACHINE
    ),
    "Pattern tables: `antipodes run twenty-four-puzzle-a`": _MACHINE,
    "Pattern tables: `antipodes run fifteen-puzzle-8`": _MACHINE,
    "Pattern tables: `antipodes run fifteen-puzzle-7`": _MACHINE,
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
    "Distances from Python: `skewb-corner`: `table.distance` of labels": _MACHINE,
    "One position at a time, and permutations: 1,000 positions of `topspin-11` by A*, "
    "guided by the distances in its table: processor time": _MACHINE,
    "One position at a time, and permutations: the 31-move position of the 8-puzzle by `bidirectional`: "
    "one path, all 40 paths": _MACHINE,
    "Control plane: 64 workers without work, 16,384 partitions: "
    "the scheduler's processor time per layer and per task": (
        "dask's scheduler takes this long for a task, and each worker has one in each layer"
    ),
}
