"""The commands of the declared questions, and the rules about options that exclude or need each other.

The refusals are generated from the declarations: each bound of a parameter, and each rule.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from programs import Command

from antipodes.cli.commands import query
from antipodes.cli.solve_options import METHODS, RULES, SPELL, SolveOptions
from antipodes.puzzles.config import load_config
from antipodes.system.options import words_of
from antipodes.system.parameters import Rule, Spell, as_options
from antipodes.system.records import as_dict
from antipodes.tables.questions import QUESTIONS
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.option_names import option_of

NAMES = [one.name for one in QUESTIONS]


@pytest.mark.parametrize("name", NAMES)
def test_the_forms_of_an_answer(name: str, cli: Command, finished: Path) -> None:
    """JSON has the values of the method, CSV its rows, and the text its lines."""
    with open_table(finished) as table:
        answer = getattr(table, name)()
    assert json.loads(cli(name, finished, "--json").out) == as_dict(answer)
    rows = list(csv.reader(io.StringIO(cli(name, finished, "--csv").out)))
    assert rows == [list(map(str, row)) for row in answer.rows()]
    assert cli(name, finished).out.splitlines() == list(answer.lines())


def test_the_branching_factors_of_the_eight_puzzle(cli: Command, finished: Path) -> None:
    """The blank has 2 moves in a corner, 3 on an edge and 4 in the middle, each for a ninth of the positions."""
    lines = cli("branching", finished).out.splitlines()
    assert lines[0].split() == ["depth", "positions", "moves", "farther", "same", "nearer"]
    assert lines[1].split() == ["0", "1", "2.000", "2.000", "0.000", "0.000"]
    assert lines[-2].split() == ["31", "2", "3.000", "0.000", "0.000", "3.000"]
    assert lines[-1].split()[:3] == ["all", "181,440", "2.667"]
    found = json.loads(cli("branching", finished, "--json").out)
    assert found["moves"] == pytest.approx(24 / 9)
    assert found["farther"] == pytest.approx(found["nearer"])  # each move back and forth


def test_a_sample_is_marked(cli: Command, finished: Path) -> None:
    lines = cli("branching", finished, "--sample", 500, "--seed", 4).out.splitlines()
    assert lines[0].split() == ["depth", "positions", "counted", "moves", "farther", "same", "nearer"]
    assert lines[-1] == "estimates from a random sample of 500 of 181,440 positions"
    found = json.loads(cli("branching", finished, "--sample", 500, "--seed", 4, "--json").out)
    assert (found["exact"], found["counted"], found["positions"]) == (False, 500, 181_440)


def test_counts_have_no_moves(refused: Callable[..., str], tmp_path: Path) -> None:
    run_puzzle(load_config("eight-puzzle"), tmp_path / "c.zarr", RunOptions(workers=1, counts_only=True))
    assert "the layers of a counts-only run" in refused("branching", "c.zarr")


def bounds() -> Iterator[tuple[str, str, int]]:
    """A value beside each bound of each parameter of each question."""
    for question in QUESTIONS:
        for name, (_, declared) in question.parameters.items():
            if declared.kind.minimum is not None:
                yield question.name, name, declared.kind.minimum - 1
            if declared.kind.maximum is not None:
                yield question.name, name, declared.kind.maximum + 1


@pytest.mark.parametrize(("question", "name", "value"), list(bounds()))
def test_values_out_of_range(question: str, name: str, value: int, refused: Callable[..., str], finished: Path) -> None:
    message = refused(question, finished, option_of(name), value)
    assert message.startswith(f"antipodes: {option_of(name)}: expected an integer")
    assert message.endswith(f"found '{value}'\n")


POSITION = "1 2 3 4 5 6 7 8 0"
OF_QUERY: Mapping[str, object] = {
    "positions": [POSITION],
    "path": True,
    "moves": "U",
    "depth": 3,
    "limit": 2,
    "random": 2,
    "count": True,
    "pattern": "?",
    "as_moves": True,
    "svg": "a.svg",
    "png": "a.png",
    "gif": "a.gif",
    "seed": 1,
}
OF_SOLVE: Mapping[str, object] = {
    "position": [POSITION],
    "moves": "U",
    "to": "123456708",
    "every": True,
    "max_depth": 3,
    "max_seconds": 3,
    "limit": 3,
    "memory_limit": "1GB",
    "store": "s",
    "heuristic": "manhattan",
    "weight": 2,
    "width": 2,
    "tables": ["t"],
    "threads": 2,
    "batch": "b",
    "output": "o.csv",
    "workers": 2,
    "scheduler": "local",
    "scheduler_file": "f",
    "svg": "a.svg",
    "png": "a.png",
    "gif": "a.gif",
    "build": "small",
    "as_json": True,
    **{f"method {name}": name for name in METHODS},
}
Values = dict[str, Any]


def of_query(names: Sequence[str]) -> Values:
    return {name: OF_QUERY[name] if name in names else None for name in OF_QUERY}


def of_solve(names: Sequence[str]) -> Values:
    given: Values = {name.partition(" ")[0]: OF_SOLVE[name] for name in names}
    options = SolveOptions("eight-puzzle", **given)
    return {**vars(options), "search_method": options.search_method}


def broken(rules: Sequence[Rule], given: Values, spell: Spell) -> tuple[Rule | None, str]:
    """The first rule that the values break, and its message."""
    for rule in rules:
        try:
            rule.check(given, spell)
        except InputError as error:
            return rule, str(error)
    return None, ""


def violations(
    rules: Sequence[Rule], values: Callable[[Sequence[str]], Values], names: Sequence[str], spell: Spell
) -> list[tuple[Sequence[str], str]]:
    """For each rule a few options that break it, but none of the rules before it, and the message."""
    found: dict[Rule, tuple[Sequence[str], str]] = {}
    for size in range(4):
        for some in combinations(names, size):
            rule, message = broken(rules, values(some), spell)
            if rule is not None:
                found.setdefault(rule, (some, message))
    assert set(found) == set(rules), "rules that nothing breaks"
    return list(found.values())


def words(names: Sequence[str], values: Mapping[str, object]) -> list[str]:
    """The words of a command line."""
    options = {name.partition(" ")[0]: values[name] for name in names if name not in ("position", "positions")}
    renamed = {"every": "all", "as_json": "json"}
    written = words_of({renamed.get(name, name): value for name, value in options.items()})
    if "--build" in written:
        at = written.index("--build")
        written[at : at + 2] = ["--build=small"]
    return written + [POSITION] * bool({"position", "positions"} & {*names})


def test_the_rules_of_query(refused: Callable[..., str], finished: Path) -> None:
    spell = as_options({"positions": "positions"})
    for names, message in violations(query.RULES, of_query, list(OF_QUERY), spell):
        assert refused("query", finished, *words(names, OF_QUERY)) == f"antipodes: {message}\n"


def test_the_rules_of_solve(refused: Callable[..., str]) -> None:
    for names, message in violations(RULES, of_solve, list(OF_SOLVE), SPELL):
        assert refused("solve", "eight-puzzle", *words(names, OF_SOLVE)) == f"antipodes: {message}\n"


@pytest.mark.parametrize("rule", [rule for question in QUESTIONS for rule in question.rules])
def test_the_rules_of_questions(rule: Rule) -> None:
    """Each one is broken by some of the parameters of its question."""
    question = next(one for one in QUESTIONS if rule in one.rules)
    none = dict.fromkeys(question.parameters)
    broken_by = [pair for pair in combinations(none, 2) if broken([rule], none | dict.fromkeys(pair, 1), str)[0]]
    assert broken_by
