"""Move tables are built in blocks, within the memory that the plan promises."""

import json
from pathlib import Path

import numpy as np
import pytest
from programs import Process
from puzzle_settings import complete, jump, listed, sliding

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config, load_config
from antipodes.system.events import Event, TablesBuilt
from antipodes.tables.layers.move_table_tasks import build_tables
from antipodes.tables.planning.plan import CODE_BYTES, plan_run
from antipodes.tables.run import run_puzzle
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.move_tables import Fill, MoveTables
from antipodes_tasks.spaces import swap_tables
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.swap_tables import SwapTables

PUZZLES = {
    "complete": jump(16, 16, "AB", complete(16, 16)),
    "complete-one-empty": jump(1, 184, "-B" + "A" * 182, complete(1, 184)),
    "listed": listed(300),
    "kings": jump(7, 7, "ABCD", 'moves = "king"'),
    "line": sliding(1, 700, [1] * 698 + [2]),
    "colours": sliding(4, 6, [1] * 11 + [2] * 12),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lean"),
    [*((name, True) for name in PUZZLES if name != "listed"), ("listed", False)],
)
def test_a_run_takes_no_more_memory_than_planned(name: str, lean: bool, tmp_path: Path, process: Process) -> None:
    config = tmp_path / f"{name}.toml"
    config.write_text(f'[puzzle]\nname = "{name}"\n{PUZZLES[name]}\n')
    loaded = load_config(str(config))
    planned = plan_run(loaded.puzzle, 2, 1 if lean else None, settings=loaded.settings).memory_bytes
    limit = ["--memory-limit", planned] if lean else []
    run = ["run", config, "--workers", 2, "--store", tmp_path / "t.zarr", "--overwrite", "--json", *limit]

    def peak() -> int:
        running = process(*run, fresh=True)
        out, err = running.communicate()
        assert running.returncode == 0, err
        return int(json.loads(out)["peak_memory_bytes"])

    taken = peak()
    own = planned - CODE_BYTES
    if taken > own:  # the first run of its kind compiles machine code, which no plan counts
        taken = peak()
    assert taken <= own
    assert planned < max(400e6, 1.5 * (taken + CODE_BYTES))


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setattr(swap_tables, "STEPS", 1 << 10)
    return load_config("knights-coloured")


@pytest.mark.parametrize("allowed", [0, 5])
def test_building_is_interrupted_between_blocks(allowed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = small_blocks(monkeypatch).puzzle
    begun: list[int] = []
    fills = SwapTables.fills

    def counted(swaps: SwapTables, tables: MoveTables) -> list[Fill]:
        return [lambda fill=fill: (begun.append(1), fill()) for fill in fills(swaps, tables)]  # type: ignore[misc]

    monkeypatch.setattr(SwapTables, "fills", counted)
    asked = iter([False] * allowed)
    with pytest.raises(InterruptedRunError, match="while building the move tables"):
        build_tables(Threads(1), best_space(puzzle.rules), lambda: next(asked, True))
    assert len(begun) == allowed


def test_blocks_make_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = best_space(load_config("knights-coloured").puzzle.rules).filler.filled()
    puzzle = small_blocks(monkeypatch).puzzle
    tables = build_tables(Threads(3), best_space(puzzle.rules))
    assert all(map(np.array_equal, tables, expected))


def test_a_listener_is_told_how_many_blocks_are_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Event] = []
    build_tables(Threads(2), best_space(small_blocks(monkeypatch).puzzle.rules), listener=told.append)
    blocks = len(told) - 1
    assert blocks > 1
    assert told == [TablesBuilt(done, blocks) for done in range(blocks + 1)]


def test_an_interrupted_building_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = small_blocks(monkeypatch)
    with pytest.raises(InterruptedRunError, match="nothing is committed yet; the same call resumes"):
        run_puzzle(config, tmp_path / "t.zarr", interrupted=lambda: True)
