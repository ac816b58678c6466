"""Depths from many starts: every position that matches a pattern, against brute force."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import arrangements, blocks_distances, distances, layers, sliding_distances
from hypothesis import given
from hypothesis import strategies as st
from programs import Command
from strategies import blocks_settings, sliding_settings
from table_search import layers_of_space

import antipodes
from antipodes.config import Config, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.packed_positions import packed, unpacked
from antipodes.puzzles.pattern import goals_in
from antipodes_tasks.errors import ConfigError, InputError, PositionError, ResourceLimitError, SourceError
from antipodes_tasks.rules.starts import Starts
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.symmetries.finding import symmetries_of

EIGHT = {"name": "p", "family": "sliding", "rows": 3, "columns": 3, "start": "1 2 3 4 5 6 7 8 0"}
BOARD = {"name": "p", "family": "sliding", "rows": 3, "columns": 3, "start": "1 1 1 1 2 2 2 2 0"}


def first(settings: dict[str, Any]) -> list[str]:
    start = settings["start"]
    return (start if isinstance(start, str) else start[0]).split()


@given(sliding_settings(), st.randoms(use_true_random=False))
def test_tiles(settings: dict[str, Any], random: Any) -> None:
    start = first(settings)
    shown = [symbol if symbol == "#" or random.random() < 0.3 else "?" for symbol in start]
    kept = [symbol for symbol in shown if symbol != "#"]
    tiles = arrangements([symbol for symbol in start if symbol != "#"])
    matches = [one for one in tiles if all(a in ("?", b) for a, b in zip(kept, one, strict=True))]
    every = [with_holes(one, start) for one in matches]
    puzzle = puzzle_from({**settings, "start": " ".join(start), "starts": " ".join(shown)})
    assert sorted(map(bytes, puzzle.start_labels)) == sorted(bytes(puzzle.parse(one)) for one in every)
    assert layers_of_space(best_space(puzzle.rules)) == layers(sliding_distances({**settings, "start": every}))


def with_holes(tiles: Iterable[str], start: list[str]) -> str:
    remaining = iter(tiles)
    return " ".join("#" if symbol == "#" else next(remaining) for symbol in start)


@given(blocks_settings())
def test_blocks_wherever_they_stand(settings: dict[str, Any]) -> None:
    """Of blocks all ways to place them count, reached from the start or not."""
    anything = "/".join("".join("#" if c == "#" else "?" for c in row) for row in settings["start"].split("/"))
    puzzle = puzzle_from({**settings, "starts": anything})
    assert {bytes(one) for one in puzzle.start_labels} == {bytes(one) for one in goals_in(puzzle, anything)}
    assert len(puzzle.starts) >= len(blocks_distances(settings))
    assert puzzle.rules.origin is None


def test_the_hardest_card_of_a_set_of_cars() -> None:
    """M. Fogleman found 51 moves for the hardest of all cards, and 4,780 positions of this one's cars."""
    puzzle = load_config("rush-hour-solved").puzzle
    assert len(puzzle.starts) > 1
    found = distances(
        map(bytes, puzzle.start_labels), lambda one: map(bytes, puzzle.successors(np.frombuffer(one, np.uint8)))
    )
    assert (len(found), max(found.values())) == (4780, 51)
    assert found[bytes(puzzle.parse("BCDDE./BCF.EG/B.FAAG/HHHI.G/..JIKK/LLJMM."))] == 51


def test_positions_and_patterns_together() -> None:
    puzzle = puzzle_from({**BOARD, "starts": ["0 ? ? ? ? ? ? ? ?", "1 1 1 1 2 2 2 2 0", "? 0 ? ? ? ? ? ? ?"]})
    assert len(puzzle.starts) == 70 + 1 + 70


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than fifty starts are many, and more than five hundred too many."""
    monkeypatch.setattr("antipodes.puzzles.puzzle.MANY", 50)
    monkeypatch.setattr("antipodes.puzzles.pattern.MOST_STARTS", 500)
    monkeypatch.setattr("antipodes_tasks.symmetries.finding.MOST_STARTS", 50)


@pytest.mark.usefixtures("few")
def test_very_many_are_an_array() -> None:
    puzzle = puzzle_from({**BOARD, "starts": "? ? ? ? 0 ? ? ? ?"})
    again = puzzle_from({**BOARD, "starts": ["? ? ? ? 0 ? ? 1 ?", "? ? ? ? 0 ? ? 2 ?"]})
    assert isinstance(puzzle.starts, Starts)
    assert (len(puzzle.starts), puzzle.starts[-1]) == (70, tuple(puzzle.start_labels[-1]))
    assert puzzle.starts == again.starts, "in an order of their own"
    assert list(puzzle.starts[2:4]) == list(puzzle.starts)[2:4]
    assert (puzzle.fingerprint, hash(puzzle.rules)) == (again.fingerprint, hash(again.rules))
    fewer = puzzle_from({**BOARD, "starts": "? ? ? ? 0 ? ? 1 ?"})
    assert (fewer.starts == puzzle.starts, fewer.fingerprint == puzzle.fingerprint) == (False, False)
    assert repr(puzzle.starts) == "<Starts: 70 positions>"
    assert sum(layers_of_space(best_space(puzzle.rules))) == 630


@pytest.mark.usefixtures("few")
def test_too_many_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"\[puzzle\] starts: pattern .*: expected at most 500 positions, found more"):
        puzzle_from({**BOARD, "starts": "? ? ? ? ? ? ? ? ?"})


@pytest.mark.usefixtures("few")
def test_symmetries_are_not_sought_of_very_many() -> None:
    with pytest.raises(ResourceLimitError, match="at most 50 starts of a puzzle with symmetries"):
        symmetries_of(puzzle_from({**BOARD, "starts": "? ? ? ? 0 ? ? ? ?"}).rules)


PHASE = """
from pathlib import Path

import antipodes

board = antipodes.load_config("eight-puzzle").puzzle
with antipodes.open_table(Path(__file__).parent / "eight-puzzle.zarr") as table:
    phase = board.starting_at(table.positions_at(20), name="from-depth-20")
"""


def test_all_positions_of_a_table_at_a_depth(tmp_path: Path, cli: Command) -> None:
    """The positions 20 moves from the start are at depth 0, and the start is at depth 20."""
    table, source, store = tmp_path / "eight-puzzle.zarr", tmp_path / "phase.py", str(tmp_path / "phase.zarr")
    cli("run", "eight-puzzle", "--store", str(table), "--quiet")
    source.write_text(PHASE, encoding="utf-8")
    report = json.loads(cli("run", f"{source}:phase", "--store", store, "--json", "--quiet").out)
    layers = json.loads(cli("layers", str(table), "--json").out)["layers"]
    assert (report["puzzle"], report["layers"][0], report["states"]) == ("from-depth-20", layers[20], 181440)
    (start,) = json.loads(cli("query", store, "1 2 3 4 5 6 7 8 0", "--json").out)
    assert start["distance"] == 20


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table of the eight-puzzle."""
    folder = tmp_path_factory.mktemp("tables")
    antipodes.run("eight-puzzle", store=folder / "eight-puzzle.zarr")
    return folder


def test_a_config_names_a_table_and_a_depth(eight: Path, cli: Command) -> None:
    """Its path is relative to the config; the stored table opens from anywhere."""
    text = (
        '[puzzle]\nname = "phase"\nfamily = "sliding"\nrows = 3\ncolumns = 3\nstart = "1 2 3 4 5 6 7 8 0"\n'
        'starts = { table = "eight-puzzle.zarr", depth = 20 }\n'
    )
    (eight / "phase.toml").write_text(text, encoding="utf-8")
    store = str(eight / "phase.zarr")
    report = json.loads(cli("run", str(eight / "phase.toml"), "--store", store, "--json", "--quiet").out)
    with antipodes.open_table(eight / "eight-puzzle.zarr") as table, antipodes.open_table(store) as phase:
        starts = table.positions_at(20)
        assert (report["puzzle"], report["layers"][0], report["states"]) == ("phase", len(starts), 181440)
        assert phase.distances(starts).tolist() == [0] * len(starts)
        assert phase["1 2 3 4 5 6 7 8 0"] == 20
    shutil.move(eight / "eight-puzzle.zarr", eight / "away.zarr")
    try:
        with antipodes.open_table(store) as phase:
            assert phase.distances(starts).tolist() == [0] * len(starts)
        cli("verify", store, "--quiet")
    finally:
        shutil.move(eight / "away.zarr", eight / "eight-puzzle.zarr")


def test_many_positions_of_another_table_are_not_copied(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.config.MOST_PACKED", 100)
    monkeypatch.chdir(eight)
    starts = {"table": "eight-puzzle.zarr", "depth": 20}
    config = Config({**EIGHT, "starts": starts})
    assert config.stored["starts"] == starts
    assert len(config.puzzle.starts) > 100


def test_a_store_says_which_table_it_needs(eight: Path, tmp_path: Path, cli: Command, monkeypatch: Any) -> None:
    """It is not called damaged: its layers are there, and it opens again with the table as it was."""
    monkeypatch.setattr("antipodes.config.MOST_PACKED", 100)
    table, store = tmp_path / "other.zarr", tmp_path / "phase.zarr"
    shutil.copytree(eight / "eight-puzzle.zarr", table)
    config = Config({**EIGHT, "starts": {"table": str(table), "depth": 20}})
    antipodes.run(config, store=store)
    shutil.rmtree(table)
    assert json.loads(cli("layers", str(store), "--json").out)["layers"]
    with pytest.raises(SourceError, match=r"p needs the table that has its starts: .*other\.zarr"):
        antipodes.open_table(store)["1 2 3 4 5 6 7 8 0"]
    antipodes.run(Config({**EIGHT, "start": "1 2 3 4 5 6 7 0 8"}), store=table)
    with pytest.raises(SourceError, match=r"others are there at depth 20 now"):
        antipodes.open_table(store)["1 2 3 4 5 6 7 8 0"]
    shutil.rmtree(table)
    shutil.copytree(eight / "eight-puzzle.zarr", table)
    assert antipodes.open_table(store)["1 2 3 4 5 6 7 8 0"] == 20


@given(st.integers(1, 5).flatmap(lambda places: st.lists(st.binary(min_size=places, max_size=places), min_size=1)))
def test_packed_positions_come_back(positions: list[bytes]) -> None:
    labels = np.array([list(one) for one in positions], dtype=np.uint8)
    assert unpacked(packed(labels), labels.shape[1]).tolist() == labels.tolist()


@pytest.mark.parametrize(
    ("settings", "starts", "message"),
    [
        (EIGHT, {"table": "eight-puzzle.zarr"}, "expected table and depth, found table"),
        (EIGHT, {"table": "eight-puzzle.zarr", "depth": 32}, "expected .* to 31, found 32"),
        (EIGHT, {"table": "eight-puzzle.zarr", "depth": "3"}, "expected depth as an integer"),
        (EIGHT, {"table": 3, "depth": 3}, "expected table as text"),
        (EIGHT, {"table": "t", "depth": 3, "positions": "AAAA"}, "expected packed positions of 9 places"),
        (EIGHT, {"table": "t", "depth": 3, "positions": packed(np.zeros((1, 9), np.uint8))}, "expected 1 x '0'"),
        (EIGHT, {"table": "none.zarr", "depth": 3}, "none.zarr"),
        (BOARD, {"table": "eight-puzzle.zarr", "depth": 3}, "expected positions of p, found those of eight-puzzle"),
        ({**EIGHT, "rows": 1, "columns": 9}, {"table": "eight-puzzle.zarr", "depth": 3}, "found those of eight-puzzle"),
    ],
)
def test_other_tables_and_depths_are_refused(
    eight: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], starts: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(eight)
    with pytest.raises(ConfigError, match=rf"^\[puzzle\] starts: .*{message}") as error:
        Config({**settings, "starts": starts}).puzzle  # noqa: B018  (raises)
    assert "\n" not in str(error.value)


def test_positions_in_place_of_the_start() -> None:
    puzzle = puzzle_from(BOARD)
    others = puzzle.starting_at(["0 1 1 1 1 2 2 2 2", "1 0 1 1 1 2 2 2 2", "0 1 1 1 1 2 2 2 2"], name="others")
    assert (others.name, len(others.starts), others.settings) == ("others", 2, None)
    assert others.starting_at(puzzle.start_labels, name="p").fingerprint == puzzle.fingerprint
    with pytest.raises(InputError, match="positions: expected at least one, found none"):
        puzzle.starting_at(puzzle.start_labels[:0], name="none")
    with pytest.raises(PositionError, match="expected 1 x '0', found 2"):
        puzzle.starting_at(["0 0 1 1 1 2 2 2 2"], name="wrong")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"starts": "3 ? ? ? ? ? ? ? ?"}, "starts: .*expected one of 0 1 2, found '3'"),
    ({"starts": "? ?"}, "starts: pattern .*expected 9 squares, found 2"),
    ({"starts": []}, "starts: expected a position or a list of positions"),
    ({"starts": "?" * 9, "goal": "?" * 9}, "goal: expected one of goal and starts, found both"),
    ({"starts": "[12] 0 0 ? ? ? ? ? ?"}, "starts: .*expected at most 1 x '0'"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_wrong_starts_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        puzzle_from({**BOARD, **changes})


@pytest.mark.parametrize("enumerated", [False, True])
@pytest.mark.parametrize("key", ["goal", "starts"])
@pytest.mark.parametrize(
    "settings",
    [
        {"family": "blocks", "start": ["A.B", ".AB"]},
        {"family": "sliding", "rows": 1, "columns": 3, "start": ["1 0 2", "0 1 2"]},
        {"family": "pancake", "start": ["1 2 3", "3 2 1"]},
        {"family": "hanoi", "discs": 3, "start": ["0 0 0", "1 1 1"]},
    ],
)
def test_a_list_of_starts_is_refused_beside_other_positions_at_depth_0(
    settings: dict[str, Any], key: str, enumerated: bool
) -> None:
    full = {"name": "p", **settings, key: settings["start"][0], "enumerated": enumerated}
    with pytest.raises(ConfigError, match=f"start: a list of 2 positions cannot be combined with '{key}'"):
        puzzle_from(full)
    one = puzzle_from({**full, "start": settings["start"][1:]})
    assert len(one.starts) == 1
