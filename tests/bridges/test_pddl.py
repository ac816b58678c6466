"""Planning tasks in PDDL: plans of pyperplan against distances, names, and bad input."""

import re
from pathlib import Path
from typing import Any

import pytest
from brute_force import positions_of
from programs import Command

import antipodes as ap
from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import InputError, PositionError, UnreachableError

TASKS: dict[str, dict[str, Any]] = {
    "tiles": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"},
    "identical tiles, two blanks, a wall and a hole": {
        "family": "sliding",
        "rows": 2,
        "columns": 4,
        "start": "a a b # 0 b c 0",
        "walls": ["a1|a2"],
    },
    "tiles of the same name in different case": {"family": "sliding", "rows": 2, "columns": 2, "start": "Ä a A 0"},
    "lines of tiles": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 1 2 3 3 0", "metric": "slides"},
    "one kind of tile": {"family": "sliding", "rows": 1, "columns": 5, "start": "x x x 0 0", "metric": "slides"},
    "some tiles": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0", "goal": "? ? ? 1 ? ?"},
    "towers": {"family": "hanoi", "pegs": 3, "discs": 4},
    "four pegs": {"family": "hanoi", "pegs": 4, "discs": 3, "start": "0 1 0"},
    "blocks": {"family": "blocks", "start": "AAC/B.C/..C"},
    "any path": {"family": "blocks", "start": "AAC/B.D/B..", "moves": "slides"},
    "cars": {"family": "blocks", "start": "BB.C/.AAC/..../....", "axis": True, "goal": "????/??AA/????/????"},
    "letters that are not names": {"family": "blocks", "start": "ÄÄA/ä.a/ä.."},
}


def planning_task(folder: Path) -> Any:
    """The task that pyperplan reads in a folder."""
    pddl, grounding = (pytest.importorskip(f"pyperplan.{name}") for name in ("pddl.parser", "grounding"))
    parser = pddl.Parser(str(folder / "domain.pddl"), str(folder / "problem.pddl"))
    return grounding.ground(parser.parse_problem(parser.parse_domain()))


def states(task: Any) -> int:
    """The number of states that the actions reach."""
    found, waiting = {task.initial_state}, [task.initial_state]
    while waiting:
        new = {after for _, after in task.get_successor_states(waiting.pop())} - found
        found |= new
        waiting += new
    return len(found)


@pytest.mark.parametrize("name", TASKS)
def test_plans_are_as_long_as_the_distance(name: str, tmp_path: Path) -> None:
    search = pytest.importorskip("pyperplan.search")
    puzzle = puzzle_from({"name": name, **TASKS[name]})
    layers = positions_of(puzzle)
    for depth in sorted({0, 1, len(layers) // 2, len(layers) - 1}):
        ap.bridges.pddl.export(puzzle, tmp_path / str(depth), position=layers[depth][-1])
        task = planning_task(tmp_path / str(depth))
        assert len(search.breadth_first_search(task)) == depth
    last = puzzle.starting_at(layers[-1][-1:], name="last")
    assert states(task) == sum(map(len, positions_of(last)))


def test_plans_against_a_table(finished: Path, cli: Command) -> None:
    search = pytest.importorskip("pyperplan.search")
    with ap.open_table(finished) as table:
        for depth in (4, 9, 13):
            position = table.puzzle.format(table.sample(depth, 1, seed=depth)[0])
            done = cli("export", "eight-puzzle", depth, "--pddl", "--position", position)
            written = f"antipodes: domain.pddl, problem.pddl written to {depth}\n"
            assert (done.status, done.out, done.err) == (0, "", written)
            assert len(search.breadth_first_search(planning_task(Path(str(depth))))) == table[position] == depth


def test_the_first_position(tmp_path: Path) -> None:
    texts = []
    for number, settings in enumerate((TASKS["cars"], TASKS["tiles"], TASKS["tiles"])):
        ap.bridges.pddl.export(puzzle_from({"name": "x", **settings}), tmp_path / str(number))
        texts.append((tmp_path / str(number) / "problem.pddl").read_text())
    assert "; 'BB.C/.AAC/..../....'\n" in texts[0]
    assert texts[1] == texts[2]
    assert "; '1 2 3 4 5 0'\n" not in texts[1]


def test_names_are_valid_whatever_the_labels(tmp_path: Path) -> None:
    for family in ("tiles of the same name in different case", "letters that are not names"):
        ap.bridges.pddl.export(puzzle_from({"name": "Käthe +2.0", **TASKS[family]}), tmp_path / family)
        for file in ("domain.pddl", "problem.pddl"):
            text = (tmp_path / family / file).read_text(encoding="ascii")
            code = re.sub(";.*", "", text)
            assert set(re.findall(r"[^\s()]+", code)) <= set(re.findall(r"[:?]?[a-z][a-z0-9_-]*|-", code))


def test_refusals(cli: Command, tmp_path: Path) -> None:
    export, tiles = ap.bridges.pddl.export, TASKS["tiles"]
    with pytest.raises(InputError, match="pddl: 2x2x2-corner is of the family twisty; the families are blocks, hanoi"):
        export("2x2x2-corner", tmp_path / "new")
    with pytest.raises(InputError, match="has free moves, but each action of a plan counts"):
        export(puzzle_from({"name": "x", **tiles, "start": "1 2 x x x 0", "free": ["x"]}), tmp_path / "new")
    two = puzzle_from({"name": "x", **tiles, "start": ["1 2 3 4 5 0", "2 3 1 4 5 0"]})
    with pytest.raises(InputError, match="do not describe the 2 positions at depth 0 of x; give it one start"):
        export(two, tmp_path / "new")
    with pytest.raises(PositionError, match="found 'x'"):
        export("eight-puzzle", tmp_path / "new", position="1 2 3 4 5 6 7 x 0")
    with pytest.raises(UnreachableError, match=r"the start is unreachable \(odd permutation.*from 2 1 3 4 5 6 7 8 0"):
        export("eight-puzzle", tmp_path / "new", position="2 1 3 4 5 6 7 8 0")
    assert not list(tmp_path.iterdir())
    (tmp_path / "there").mkdir()
    for arguments, message in {
        ("eight-puzzle", "there", "--pddl"): "there exists already; choose another folder",
        ("eight-puzzle", "new", "--position", "1 2 3"): "--position can only be used with --pddl",
        ("eight-puzzle", "new", "--pddl", "--parquet"): "--pddl cannot be combined with --parquet",
        ("no-puzzle", "new", "--pddl"): "there is no puzzle 'no-puzzle'",
    }.items():
        done = cli("export", *arguments)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert message in done.err
    assert not list((tmp_path / "there").iterdir())
