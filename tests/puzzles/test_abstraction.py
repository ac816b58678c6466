"""Patterns of puzzles as configs."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Command

from antipodes.puzzles.abstraction import Abstraction, pattern_settings
from antipodes.puzzles.config import Config, bundled_configs, load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.report_page.provenance import as_toml
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.spaces.selection import best_space

BANDAGED = """
Set P 5 1
Set Q 2 1
Solved
End
Move A
P
2 3 1 4 5
Q
2 1
End
Move B
P
1 2 4 5 3
End
Illegal P 5 1
"""


def pattern(name: str | Puzzle, keep: str | None = None, equal: tuple[str, ...] = (), **more: Any) -> Config:
    puzzle = load_config(name).puzzle if isinstance(name, str) else name
    return Config(pattern_settings(puzzle, Abstraction([] if keep is None else [keep], equal, **more)))


@pytest.mark.parametrize(
    ("name", "keep", "equal", "start"),
    [
        ("eight-puzzle", "1 2 3", (), "1 2 3 x x x x x 0"),
        ("eight-puzzle", None, ("5 6 7", "1 2"), "1 1 3 4 5 5 5 8 0"),
        ("eight-puzzle", "1 2 3", ("1 2",), "1 1 3 x x x x x 0"),
        ("hole-in-the-middle", "1 2", (), None),
        ("knights-labelled", None, ("A B C", "X Y Z"), "AAA------XXX"),
        ("pancake-10", "1 2 3", (), "1 2 3 x x x x x x x"),
        ("topspin-11", "1 2", (), "1 2 x x x x x x x x x"),
        ("m12", "0 1", (), "0 1 x x x x x x x x x x"),
    ],
)
def test_a_pattern_is_the_puzzle_with_equal_pieces(
    name: str, keep: str | None, equal: tuple[str, ...], start: str | None
) -> None:
    puzzle, found = load_config(name).puzzle, pattern(name, keep, equal).puzzle
    assert start in (None, found.format(found.start_labels[0]))
    assert (found.places, found.moves.names) == (puzzle.places, puzzle.moves.names)
    assert best_space(found.rules).size < best_space(puzzle.rules).size
    becomes = np.zeros(len(puzzle.symbols), dtype=np.uint8)
    becomes[puzzle.start_labels[0]] = found.start_labels[0]
    position = puzzle.start_labels[0]
    for _ in range(5):  # a move of the puzzle is one of the pattern
        position = puzzle.successors(position)[-1]
        after = {bytes(one) for one in found.successors(becomes[position])}
        assert {bytes(becomes[one]) for one in puzzle.successors(position)} <= after


def test_free_tiles_are_those_that_are_not_kept() -> None:
    found = pattern("eight-puzzle", "1 2 3 4", free=True)
    assert (found.settings["free"], best_space(found.puzzle.rules).size) == (["x"], 5520)
    names = [pattern("eight-puzzle", "1 2 3 4", free=free).settings["name"] for free in (False, True)]
    assert names == ["eight-puzzle-1-2-3-4", "eight-puzzle-1-2-3-4-free"]


def test_puzzles_whose_starts_or_moves_depend_on_pieces_are_refused() -> None:
    three = {"name": "three", "family": "generators", "start": "0 1 2", "moves": {"R": "(0 1 2)"}}
    locked = Config({**three, "conditions": {"R": "[^1] ? ?"}}).puzzle
    with pytest.raises(
        InputError, match="three cannot have patterns, because its key conditions refers to individual pieces"
    ):
        pattern_settings(locked, Abstraction(equal=["1,2"]))
    many = {
        "name": "eight",
        "family": "sliding",
        "rows": 3,
        "columns": 3,
        "start": "1 2 3 4 5 6 7 8 0",
        "starts": "1 2 3 ? ? ? ? ? ?",
    }
    with pytest.raises(
        InputError, match="eight cannot have patterns, because its key starts refers to individual pieces"
    ):
        pattern_settings(Config(many).puzzle, Abstraction(keep=["1,2"]))


@pytest.mark.parametrize(
    ("forgotten", "name"),
    [
        ({"drop_orientation": ["EDGES"]}, "pyraminx-EDGES-unoriented"),
        ({"drop_orientation": ["EDGES:3,1"], "omit": ["AXIALS"]}, "pyraminx-EDGES-1-3-unoriented-without-AXIALS"),
        ({"keep": ["EDGES:1,2"], "omit": ["AXIALS"]}, "pyraminx-EDGES-1-2-without-AXIALS"),
    ],
)
def test_names_say_what_is_forgotten(forgotten: dict[str, Any], name: str) -> None:
    assert pattern_settings(load_config("pyraminx").puzzle, Abstraction(**forgotten))["name"] == name


@pytest.mark.parametrize(
    ("name", "keep", "equal", "free", "message"),
    [
        ("eight-puzzle", "1 9", (), False, "expected pieces of eight-puzzle: 1 2 3 4 5 6 7 8; found '9'"),
        ("eight-puzzle", "0 1", (), False, "expected pieces of eight-puzzle: 1 2 3 4 5 6 7 8; found '0'"),
        (
            "eight-puzzle",
            "1 2 3 4 5 6 7",
            (),
            False,
            "the pattern would be the puzzle itself; choose pieces to merge or something to leave out",
        ),
        (
            "pancake-10",
            "1",
            (),
            True,
            "--free needs a sliding puzzle and --keep; it makes moves of the other tiles cost nothing",
        ),
        (
            "eight-puzzle",
            None,
            ("1 2",),
            True,
            "--free needs a sliding puzzle and --keep; it makes moves of the other tiles cost nothing",
        ),
        (
            "eight-puzzle",
            None,
            ("1 2", "2 3"),
            False,
            "--equal: '2' is listed twice; list each piece once",
        ),
        (
            "klotski",
            "A",
            (),
            False,
            "patterns need moves that are legal in every position; klotski has others",
        ),
        (
            "hanoi-3-pegs",
            "1",
            (),
            False,
            "patterns need moves that permute pieces; hanoi-3-pegs is of the family hanoi",
        ),
        ("skewb", "1", (), False, "--keep: expected PART or PART:PIECES, such as CORNERS1:1,2, CORNERS2:1,2"),
        ("skewb", "CENTRES:7", (), False, "--keep: expected pieces of CENTRES: 1 2 3 4 5 6; found '7'"),
        (
            "skewb",
            None,
            ("CENTRES", "CENTRES:1"),
            False,
            "--equal: '1' is listed twice; list each piece once",
        ),
    ],
)
def test_what_makes_no_pattern_is_refused(
    name: str, keep: str | None, equal: tuple[str, ...], free: bool, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pattern(name, keep, equal, free=free)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"omit": ["EDGES"]}, "--omit: expected one of the parts CORNERS1, CORNERS2, CENTRES; found 'EDGES'"),
        (
            {"omit": ["CORNERS1", "CENTRES", "CORNERS2"]},
            "--omit: at least one set must remain; the sets are CORNERS1, CORNERS2, CENTRES",
        ),
        (
            {"drop_orientation": ["CENTRES"]},
            "--drop-orientation: these pieces have no orientations: CENTRES: 1 2 3 4 5 6",
        ),
        (
            {"keep": ["CENTRES"], "name": "/"},
            "the pattern would be the puzzle itself; choose pieces to merge or something to leave out",
        ),
        ({"omit": ["CENTRES"], "name": "/"}, "--name: expected at most 60 letters"),
        (
            {"equal": ["CORNERS1"], "drop_orientation": ["CORNERS1:1"]},
            r"defaultPattern\.CORNERS1: identical pieces must have the same visible orientations",
        ),
    ],
)
def test_what_no_part_allows_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Config(pattern_settings(load_config("skewb").puzzle, Abstraction(**more))).puzzle  # noqa: B018


def test_moves_that_are_not_legal_everywhere_are_the_reason() -> None:
    puzzle = Config({"name": "b", "family": "twisty", "format": "tws", "definition": BANDAGED}).puzzle
    with pytest.raises(InputError, match="patterns need moves that are legal in every position; b has others"):
        pattern(puzzle, omit=["Q"])


def test_patterns_of_puzzles_with_free_tiles(cli: Command) -> None:
    sliding = {"name": "own", "family": "sliding", "rows": 2, "columns": 3, "start": "0 1 2 3 x x", "free": ["x"]}
    puzzle = Config(sliding).puzzle
    fewer, free = pattern(puzzle, "1"), pattern(puzzle, "1 2", free=True)
    assert (fewer.settings["start"].split(), fewer.settings["free"]) == (list("01yyxx"), ["x"])
    assert (free.settings["start"].split(), free.settings["free"]) == (list("012yyy"), ["y"])
    for one in (fewer, free):
        assert best_space(one.puzzle.rules).size < best_space(puzzle.rules).size
    with pytest.raises(InputError, match="--keep: expected pieces of own: 1 2 3; found 'x'"):
        pattern(puzzle, "1 x")
    but_one = pattern("eight-puzzle", "1 2 3 4 5 6 7", free=True)
    assert (but_one.settings["start"].split(), but_one.settings["free"]) == (list("1234567x0"), ["x"])
    with pytest.raises(InputError, match="the pattern would be the puzzle itself"):
        pattern("eight-puzzle", "1 2 3 4 5 6 7 8", free=True)


TWISTY: list[tuple[str, dict[str, Any]]] = [
    ("2x2x2-corner", {"keep": ["1,2,3"], "drop_orientation": ["4,5,6,7"]}),
    ("2x2x2-corner", {"equal": ["CORNERS"]}),
    ("pyraminx", {"omit": ["AXIALS"], "keep": ["EDGES:1,2,3"]}),
    ("pyraminx", {"drop_orientation": ["EDGES"], "equal": ["AXIALS"]}),
    ("2x2x3", {"keep": ["CORNERS:1,2", "CORNERS:3"], "omit": ["EDGES"]}),
    ("burnt-pancake-6", {"keep": ["1,2,3"]}),
    ("burnt-pancake-6", {"drop_orientation": ["pieces"]}),
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Config], Path]:
    folder = tmp_path_factory.mktemp("abstraction")

    def table(config: Config) -> Path:
        path = folder / f"{config.puzzle.fingerprint}.zarr"
        if not path.exists():
            run_puzzle(config, path, RunOptions(workers=2))
        return path

    return table


@pytest.mark.parametrize(("name", "more"), TWISTY, ids=str)
def test_the_table_of_a_pattern_is_an_admissible_heuristic(
    name: str, more: dict[str, Any], tables: Callable[[Config], Path]
) -> None:
    """Along a walk, which is made in puzzle and pattern by the names of moves; moves that do nothing may be missing."""
    burnt = {"name": "burnt-pancake-6", "family": "burnt-pancake", "n": 6}
    config = Config(burnt) if name not in bundled_configs() else load_config(name)
    found = Config(tomllib.loads(as_toml("puzzle", pattern_settings(config.puzzle, Abstraction(**more))))["puzzle"])
    puzzle, small = config.puzzle, found.puzzle
    assert {part.name or "pieces" for part in puzzle.parts} >= {part.name for part in small.parts}
    assert set(small.moves.names) <= set(puzzle.moves.names)
    walk = np.random.default_rng(0).integers(len(puzzle.moves), size=400)
    positions, images = [puzzle.start_labels], [small.start_labels]
    for number in walk.tolist():
        move = puzzle.moves.names[number]
        positions.append(puzzle.moves.move(number, positions[-1])[0])
        same = small.moves.names.index(move) if move in small.moves.names else None
        images.append(images[-1] if same is None else small.moves.move(same, images[-1])[0])
    with open_table(tables(config)) as whole, open_table(tables(found)) as part:
        distances, bounds = whole.distances(np.concatenate(positions)), part.distances(np.concatenate(images))
        assert len(part) < len(whole)
    assert (bounds <= distances).all()
    assert bounds.max() > 2
    assert (np.abs(np.diff(bounds.astype(int))) <= 1).all()


def test_the_command_prints_a_config_that_runs(cli: Command) -> None:
    printed = cli("abstract", "eight-puzzle", "--keep", "1,2,3,4", "--free").out
    assert tomllib.loads(printed)["puzzle"]["start"].split() == ["1", "2", "3", "4", "x", "x", "x", "x", "0"]
    Path("four.toml").write_text(printed)
    assert "5,520 positions" in cli("run", "four.toml", "--quiet").out
    for arguments in ((), ("--keep", ","), ("--keep", "1", "--equal", "x")):
        assert cli("abstract", "eight-puzzle", *arguments).status == 2
