"""Claims about searches on the pages, measured again."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from documents import blocks
from oracles import ORACLES
from project import DOCS

from antipodes.puzzles.config import load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.searches.routes import exchanges, reflection

ORACLE = ORACLES["sliding/eight-puzzle"]


def test_the_example_search_is_right_and_short() -> None:
    (code,) = blocks((DOCS / "how-to" / "develop.md").read_text(encoding="utf-8"), "python")
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["layers"] == ORACLE["layers"]
    assert names["farthest"].tolist() == ORACLE["antipodes"]
    assert len([line for line in code.splitlines() if line.strip()]) <= 30


def test_routes_against_the_table(tmp_path: Path) -> None:
    """The table in the section `Routes against the table` of searches.md is right."""
    store = tmp_path / "knights-labelled.zarr"
    run_puzzle(load_config("knights-labelled"), store, RunOptions(workers=2))
    rows = []
    with open_table(store) as table:
        for limit in (3, 4, 5, 6):
            found = exchanges(table.puzzle.rules, limit).solutions
            ends = np.array([exchange.positions[-1] for exchange in found])
            surplus = np.array([exchange.moves for exchange in found]) - table.distances(ends)
            assert (surplus >= 0).all()
            tally = Counter(surplus.tolist())
            ways = "; ".join(f"{more}: {tally[more]}" for more in sorted(tally))
            reached = len(up_to_reflection(table.puzzle, ends))
            shortest = len(up_to_reflection(table.puzzle, ends[surplus == 0]))
            rows.append(f"| {limit} | {len(found)} | {reached} | {shortest} | {ways} |")
        all_ends = np.concatenate(list(exchange_ends(table.puzzle)))
        assert len(up_to_reflection(table.puzzle, all_ends)) == 20
    text = (DOCS / "explanation" / "searches.md").read_text(encoding="utf-8")
    for row in rows:
        assert row in text, row


def exchange_ends(puzzle: Puzzle) -> list[Labels]:
    from antipodes.puzzles.pattern import Pattern

    return list(Pattern.parse(puzzle, "{XYZ}/---/---/{ABC}").batches())


def up_to_reflection(puzzle: Puzzle, positions: Labels) -> set[bytes]:
    """Return one of each pair of mirror images; the reflection also exchanges A and C, X and Z."""
    places = reflection(puzzle.rules)
    assert places
    labels = np.array([puzzle.rules.symbols.index(symbol) for symbol in "-CBAZYX"])
    images = labels[positions[:, places]].astype(np.uint8)
    return {min(one.tobytes(), image.tobytes()) for one, image in zip(positions, images, strict=True)}
