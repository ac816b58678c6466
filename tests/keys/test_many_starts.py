"""Depths from many starts: every position that matches a pattern, against brute force."""

import base64
import json
import shutil
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import arrangements, blocks_distances, distances, layers, sliding_distances
from hypothesis import given
from hypothesis import strategies as st
from programs import Command
from stores import read_manifest, toml
from strategies import blocks_settings, sliding_settings
from table_search import layers_of_space

import antipodes
from antipodes.puzzles import packed_positions
from antipodes.puzzles.config import Config, as_config, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.families.generators import settings_of
from antipodes.puzzles.goals import goals_in
from antipodes.puzzles.packed_positions import packed, unpacked
from antipodes.storage.backend import MANIFEST
from antipodes_tasks.base.errors import ConfigError, InputError, PositionError, ResourceLimitError
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.rules.starts import Starts
from antipodes_tasks.spaces.selection import best_space

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


@pytest.mark.slow
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
    monkeypatch.setattr("antipodes.puzzles.puzzle.MIN_ARRAY_STARTS", 50)
    monkeypatch.setattr("antipodes.puzzles.goals.MAX_STARTS", 500)
    monkeypatch.setattr("antipodes_tasks.properties.finding.MAX_STARTS", 50)


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
    with pytest.raises(
        ConfigError, match=r"\[puzzle\] starts: pattern '\? \? \? \? \? \? \? \? \?': more than 500 positions match"
    ):
        puzzle_from({**BOARD, "starts": "? ? ? ? ? ? ? ? ?"})


@pytest.mark.usefixtures("few")
def test_symmetries_are_not_sought_of_very_many() -> None:
    with pytest.raises(ResourceLimitError, match="can be found for at most 50 starts"):
        symmetries_of(puzzle_from({**BOARD, "starts": "? ? ? ? 0 ? ? ? ?"}).rules)


SMALL = {"name": "small", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"}
"""A board with 360 reachable positions, 44 of them at depth 14."""
PHASE = f"""
from pathlib import Path

import antipodes

board = antipodes.Config({SMALL}).puzzle
with antipodes.open_table(Path(__file__).parent / "small.zarr") as table:
    phase = board.starting_at(table.positions_at(14), name="from-depth-14")
"""


def test_all_positions_of_a_table_at_a_depth(tmp_path: Path, cli: Command) -> None:
    """The positions 14 moves from the start are at depth 0, and the start is at depth 14."""
    table, source, store = tmp_path / "small.zarr", tmp_path / "phase.py", str(tmp_path / "phase.zarr")
    antipodes.run(Config(SMALL), store=table)
    source.write_text(PHASE, encoding="utf-8")
    report = json.loads(cli("run", f"{source}:phase", "--store", store, "--json", "--quiet").out)
    layers = json.loads(cli("layers", str(table), "--json").out)["layers"]
    assert (report["puzzle"], report["layers"][0], report["states"]) == ("from-depth-14", layers[14], 360)
    (start,) = json.loads(cli("query", store, SMALL["start"], "--json").out)
    assert start["distance"] == 14


def test_a_store_has_a_copy_of_the_starts(tmp_path: Path, cli: Command) -> None:
    """It opens and is verified although the table with the positions is gone."""
    table = tmp_path / "small.zarr"
    antipodes.run(Config(SMALL), store=table)
    with antipodes.open_table(table) as opened:
        starts = opened.positions_at(14)
    phase = Config(SMALL).puzzle.starting_at(starts, name="phase")
    antipodes.run(phase, store=(store := tmp_path / "phase.zarr"))
    shutil.rmtree(table)
    assert list(read_manifest(store / MANIFEST)["puzzle"]["starts"]) == ["positions"]
    with antipodes.open_table(store) as opened:
        assert (opened.layers[0], len(opened), opened[SMALL["start"]]) == (len(starts), 360, 14)
        assert opened.distances(starts).tolist() == [0] * len(starts)
    assert cli("verify", str(store), "--quiet").status == 0


def test_a_store_needs_no_python_file_for_other_starts(tmp_path: Path, cli: Command) -> None:
    source, store = tmp_path / "phase.py", tmp_path / "phase.zarr"
    source.write_text(
        "import antipodes\n"
        'board = antipodes.load_config("eight-puzzle").puzzle\n'
        'phase = board.starting_at(["1 2 3 4 5 6 7 0 8"], name="phase")\n',
        encoding="utf-8",
    )
    cli("run", f"{source}:phase", "--store", str(store), "--quiet")
    source.unlink()
    (answer,) = json.loads(cli("query", str(store), "1 2 3 4 5 6 7 8 0", "--json").out)
    assert answer["distance"] == 1


@pytest.mark.parametrize("goal", [{}, {"goal": "? ? ? ? ? ? ? ? 0"}, {"starts": "? ? ? ? ? ? ? ? 0"}])
def test_other_starts_replace_goals_and_starts(goal: dict[str, Any]) -> None:
    puzzle = Config({**BOARD, **goal}).puzzle.starting_at(["0 1 1 1 1 2 2 2 2"], name="others")
    assert puzzle.settings is not None
    again = Config(puzzle.settings).puzzle
    assert (again.fingerprint, again.name, again.depth_zero) == (puzzle.fingerprint, "others", "start")
    assert again.starting_at(["0 2 1 1 1 1 2 2 2"], name="p").starts != again.starts


def test_too_many_starts_are_not_copied(
    tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    """The store has their digest alone: it is not called corrupt, and opens with the puzzle."""
    monkeypatch.setattr("antipodes.puzzles.packed_positions.MAX_CHARACTERS", 100)
    antipodes.run(Config(SMALL), store=tmp_path / "small.zarr")
    with antipodes.open_table(tmp_path / "small.zarr") as table:
        phase = table.puzzle.starting_at(table.positions_at(14), name="phase")
    assert phase.settings is None
    antipodes.run(phase, store=(store := tmp_path / "phase.zarr"))
    assert read_manifest(store / MANIFEST)["puzzle"].keys() == {"name", "family", "fingerprint"}
    monkeypatch.setattr("antipodes.puzzles.python_source._GIVEN", {})
    assert json.loads(cli("layers", str(store), "--json").out)["layers"]
    assert "phase, was made in Python" in refused("query", str(store), SMALL["start"])
    assert antipodes.open_table(store, puzzle=phase)[SMALL["start"]] == 14


@given(st.integers(1, 5).flatmap(lambda places: st.lists(st.binary(min_size=places, max_size=places), min_size=1)))
def test_packed_positions_come_back(positions: list[bytes]) -> None:
    labels = np.array([list(one) for one in positions], dtype=np.uint8)
    assert packed(labels) is not None
    assert unpacked(packed(labels), labels.shape[1]).tolist() == labels.tolist()


def text_of(content: bytes) -> str:
    return base64.b64encode(content).decode()


CORRUPT = "packed positions are corrupt, or from a puzzle that does not have 9 places"


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        (3, CORRUPT),
        ("AAAA", CORRUPT),
        (packed(np.zeros((1, 9), np.uint8)), "expected 1 x '0'"),
        (packed(np.zeros((1, 8), np.uint8)), CORRUPT),
        (packed(np.zeros((0, 9), np.uint8)), "the list is empty"),
        (text_of(zlib.compress(bytes(9))[:-1]), CORRUPT),
        (text_of(zlib.compress(bytes(9)) + b"more"), CORRUPT),
        (text_of(zlib.compress(bytes(9 << 10))), CORRUPT),
        ("A" * (1 << 19), CORRUPT),
    ],
)
def test_forged_positions_are_refused(positions: object, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_positions, "MAX_BYTES", 9 << 9)
    with pytest.raises(ConfigError, match=rf"^\[puzzle\] starts: .*{message}") as error:
        Config({**EIGHT, "starts": {"positions": positions}}).puzzle  # noqa: B018  (raises)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "starts", [{"table": "eight-puzzle.zarr", "depth": 20}, {"table": "t", "positions": "AAAA"}, {}]
)
def test_a_config_names_no_table(starts: dict[str, Any], tmp_path: Path, refused: Callable[..., str]) -> None:
    (tmp_path / "phase.toml").write_text(toml({**EIGHT, "starts": starts}), encoding="utf-8")
    message = refused("run", tmp_path / "phase.toml", "--store", tmp_path / "phase.zarr")
    assert "[puzzle] starts: expected a position, a pattern or a list of them" in message
    assert "use Puzzle.starting_at in Python, or the command 'components'" in message


def test_too_many_starts_are_not_written() -> None:
    """The manifest would be too large to be read again."""
    places = 60
    moves = {"a": [*range(1, places), 0]}
    puzzle = antipodes.define_puzzle(name="p", start=" ".join(map(str, range(places))), moves=moves)
    rng = np.random.default_rng(0)
    many = puzzle.starting_at(np.array([rng.permutation(places) for _ in range(5000)], np.uint8), name="many")
    assert settings_of(many) is None
    assert as_config(many).settings.keys() == {"name", "family", "fingerprint"}


def test_positions_in_place_of_the_start() -> None:
    puzzle = puzzle_from(BOARD)
    others = puzzle.starting_at(["0 1 1 1 1 2 2 2 2", "1 0 1 1 1 2 2 2 2", "0 1 1 1 1 2 2 2 2"], name="others")
    assert (others.name, len(others.starts), others.settings) == ("others", 2, None)
    assert others.starting_at(puzzle.start_labels, name="p").fingerprint == puzzle.fingerprint
    with pytest.raises(InputError, match="positions: the list is empty; give at least one position"):
        puzzle.starting_at(puzzle.start_labels[:0], name="none")
    with pytest.raises(PositionError, match="expected 1 x '0', found 2"):
        puzzle.starting_at(["0 0 1 1 1 2 2 2 2"], name="wrong")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"starts": "3 ? ? ? ? ? ? ? ?"}, "starts: .*expected one of 0 1 2, found '3'"),
    ({"starts": "? ?"}, "starts: pattern .*expected 9 squares, found 2"),
    ({"starts": []}, "starts: expected a position or a list of positions"),
    ({"starts": "?" * 9, "goal": "?" * 9}, r"\[puzzle\] goal: goal and starts cannot be combined; remove one of them"),
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
    with pytest.raises(ConfigError, match=f"start: expected one position, found 2; .* come from '{key}'"):
        puzzle_from(full)
    one = puzzle_from({**full, "start": settings["start"][1:]})
    assert len(one.starts) == 1
