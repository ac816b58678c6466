"""Many positions: the files of answers, what resumes them and what does not, progress, and tasks."""

import csv
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from programs import Command
from stores import toml

import antipodes as ap
from antipodes.cli.answer_files import COLUMNS
from antipodes.cli.batch import Machines
from antipodes.solving.batch_search import BatchSearch
from antipodes.solving.solve import Solved
from antipodes.system.events import silence

if TYPE_CHECKING:
    from clusters import Cluster

EIGHT = {"name": "own", "family": "sliding", "rows": 3, "columns": 3, "start": "1 2 3 4 5 6 7 8 0"}
SOME = {"8 6 7 2 5 4 3 0 1": 31, "1 2 3 4 5 6 7 8 0": 0, "1 2 3 4 5 6 7 0 8": 1, "2 1 3 4 5 6 7 8 0": None}
BATCH = ("solve", "eight-puzzle", "--batch", "some.txt")


@pytest.fixture
def some(cli: Command) -> Command:
    """The command, in a directory with a file of positions."""
    Path("some.txt").write_text("\n\n".join(SOME))
    return cli


def rows_of(path: str) -> list[dict[str, str]]:
    """The answers of a file, as texts; JSON's null is empty, as in CSV."""
    text = Path(path).read_text()
    if path.endswith(".csv"):
        return list(csv.DictReader(text.splitlines()))
    every = json.loads(text) if path.endswith(".json") else list(map(json.loads, text.splitlines()))
    return [{**one, "distance": "" if one["distance"] is None else str(one["distance"])} for one in every]


@pytest.mark.parametrize("path", ["out.csv", "out.json", "out.jsonl"])
def test_files_are_whole_after_each_answer_and_completed_later(path: str, some: Command) -> None:
    assert some(*BATCH, "--output", path).out == ""
    rows = rows_of(path)
    assert {one["position"]: one["distance"] for one in rows} == {
        position: "" if distance is None else str(distance) for position, distance in SOME.items()
    }
    whole = Path(path).read_bytes()
    some(*BATCH, "--output", path)
    assert Path(path).read_bytes() == whole
    lines = whole.decode().splitlines(keepends=True)
    first = 1 if path != "out.jsonl" else 0
    for kept in (first, first + 1, first + 3):
        for half in (0, 1, 30, len(lines[kept]) - 1):
            Path(path).write_text("".join(lines[:kept]) + lines[kept][:half])
            some(*BATCH, "--output", path)
            again = Path(path).read_text().splitlines(keepends=True)
            assert again[:kept] == lines[:kept]
            assert [one["position"] for one in rows_of(path)] == list(SOME)


@pytest.mark.parametrize(
    ("solved", "saved"),
    [
        (None, "nothing is saved; the same command starts over"),
        (2, "out.csv contains the positions solved so far; the same command continues after them"),
    ],
)
def test_an_interruption_says_what_is_saved(
    solved: int | None, saved: str, some: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None: the interruption comes while the search is prepared."""
    solve = BatchSearch.solve

    def interrupted(*given: Any) -> Iterator[Solved]:
        yield from islice(solve(*given), solved)
        raise KeyboardInterrupt

    def start(*given: Any) -> Iterator[Solved]:
        if solved is None:
            raise KeyboardInterrupt
        return interrupted(*given)

    monkeypatch.setattr(BatchSearch, "solve", start)
    outcome = some(*BATCH, "--output", "out.csv", "--workers", 1)
    assert (outcome.status, outcome.out) == (75, "")
    assert outcome.err.rstrip().endswith(saved)
    assert Path("out.csv").exists() == (solved is not None)


def test_answers_with_other_settings_are_not_continued(some: Command) -> None:
    Path("own.toml").write_text(toml({**EIGHT, "name": "low", "start": "1 2 3 4 x x x x 0", "free": ["x"]}))
    some("run", "own.toml", "--quiet")
    some(*BATCH, "--output", "out.csv", "--max-depth", 40)
    assert re.fullmatch(r"eight-puzzle@\w{8} --max-depth 40", rows_of("out.csv")[0]["settings"])
    begun = Path("out.csv").read_bytes()
    for options in ((), ("--max-depth", 41), ("--max-depth", 40, "--tables", "low"), ("--to", "1 2 3 4 5 6 7 0 8")):
        refused = some(*BATCH, "--output", "out.csv", *options)
        assert refused.status == 2
        assert "--output: the answers in out.csv have the settings eight-puzzle@" in refused.err
        assert "--max-depth 40, not eight-puzzle@" in refused.err
    assert "--tables low@" in some(*BATCH, "--output", "out.csv", "--tables", "low").err
    assert Path("out.csv").read_bytes() == begun


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("out.json", "{}\n", "--output: expected a list of answers in out.json, found '{}'"),
        ("out.json", "[]\nnotes", "--output: expected a list of answers in out.json, found '[]'"),
        ("out.json", "[\n]\nnotes\n", "--output: out.json contains a line that is not an answer: ']'"),
        ("out.json", "[\n5\n]\n", "--output: out.json contains a line that is not an answer: '5'"),
        ("out.jsonl", '{"position": "1"}\n', "out.jsonl contains a line that is not an answer: "),
        ("out.csv", f"{','.join(COLUMNS)}\n1,2\n", "out.csv contains a line that is not an answer: '1,2'"),
        ("out.csv", "position,distance\n1,2\n", "--output: expected the columns position, distance, outcome"),
        ("out.csv", f"{','.join(COLUMNS)}\nmy notes", "out.csv contains a line that is not an answer: 'my notes'"),
        ("out.jsonl", "my notes", "--output: out.jsonl contains a line that is not an answer: 'my notes'"),
        ("out.jsonl", "\n\nmy notes\n", "--output: out.jsonl contains a line that is not an answer: 'my notes'"),
        ("out.jsonl", '{"position": "1 2 3', "out.jsonl contains a line that is not an answer: "),
    ],
)
def test_other_files_are_not_written_to(path: str, content: str, message: str, some: Command) -> None:
    Path(path).write_text(content)
    refused = some(*BATCH, "--output", path)
    assert refused.status == 2
    assert message in refused.err
    assert Path(path).read_text() == content


def test_answers_for_other_positions_are_not_continued(some: Command) -> None:
    some(*BATCH, "--output", "out.csv")
    begun = Path("out.csv").read_bytes()
    first, second, *others = SOME
    for lines, message in (
        ([first], "--output: out.csv has 4 answers, but some.txt has 1 position; name another file\n"),
        (
            ["", second, first, *others],
            f"--output: position 1 of some.txt is {second}, but answer 1 of out.csv is for {first}; "
            "name another file\n",
        ),
    ):
        Path("some.txt").write_text("\n".join(lines))
        refused = some(*BATCH, "--output", "out.csv")
        assert (refused.status, refused.err) == (2, f"antipodes: {message}")
    assert Path("out.csv").read_bytes() == begun


@pytest.mark.parametrize(("path", "empty"), [("e.csv", f"{','.join(COLUMNS)}\n"), ("e.json", "[]\n"), ("e.jsonl", "")])
def test_no_positions_make_a_file_without_answers(path: str, empty: str, some: Command) -> None:
    Path("none.txt").write_text("\n")
    for _ in range(2):
        assert some("solve", "eight-puzzle", "--batch", "none.txt", "--output", path, "--quiet").status == 0
        assert Path(path).read_text() == empty
    some(*BATCH, "--output", path)
    assert [one["position"] for one in rows_of(path)] == list(SOME)


def test_progress_is_told(some: Command) -> None:
    told = some(*BATCH, "--output", "out.csv").err
    assert "solving: 0 of 4 positions solved" in told
    assert "solving: 4 of 4 positions solved" in told
    assert some(*BATCH, "--output", "other.csv", "--quiet").err == ""


def test_a_cluster_solves_positions_as_tasks(some: Command, shared: "Cluster", tmp_path: Path) -> None:
    Path("own.toml").write_text(toml({**EIGHT, "name": "low", "start": "1 2 3 4 x x x x 0", "free": ["x"]}))
    some("run", "own.toml", "--quiet")
    tables = ("--tables", tmp_path / "outputs" / "low.zarr")
    here = some(*BATCH, *tables, "--json", "--quiet")
    there = some(*BATCH, *tables, "--scheduler", shared.address, "--json", "--quiet")
    assert (there.status, there.err) == (0, "")
    answers = [
        [{key: value for key, value in one.items() if key != "seconds"} for one in json.loads(outcome.out)]
        for outcome in (here, there)
    ]
    assert answers[0] == answers[1]
    assert [one["distance"] for one in answers[1]] == list(SOME.values())
    some(*BATCH, "--scheduler", shared.address, "--output", "out.csv")
    assert [one["position"] for one in rows_of("out.csv")] == list(SOME)


def test_the_cluster_has_an_address_or_a_file(shared: "Cluster") -> None:
    for machines in (Machines(scheduler=shared.address), Machines(scheduler_file=str(shared.scheduler_file))):
        with machines.opened(silence) as scheduler:
            assert not scheduler.shares_memory


def test_lines_are_sequences_of_moves(cli: Command) -> None:
    Path("scrambles.txt").write_text("// three scrambles\nR U R' F2\n\nU2 // half a turn\n(R U)3\n")
    outcome = cli("solve", "2x2x2", "--batch", "scrambles.txt", "--moves", "-", "--output", "out.csv")
    assert outcome.status == 0, outcome.err
    puzzle = ap.load_puzzle("2x2x2")
    rows = rows_of("out.csv")
    assert [one["line"] for one in rows] == ["2", "4", "5"]
    for row, text in zip(rows, ("R U R' F2", "U2", "(R U)3"), strict=True):
        assert row["position"] == puzzle.format(puzzle.follow(text)[-1])
        assert puzzle.follow(f"{text} {row['moves']}")[-1].tolist() == puzzle.start_labels[0].tolist()
    whole = Path("out.csv").read_bytes()
    Path("out.csv").write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    cli("solve", "2x2x2", "--batch", "scrambles.txt", "--moves", "-", "--output", "out.csv")
    assert [one["line"] for one in rows_of("out.csv")] == ["2", "4", "5"]
    Path("scrambles.txt").write_text("R U R' F2\n")
    refused = cli("solve", "2x2x2", "--batch", "scrambles.txt", "--moves", "-", "--output", "out.csv")
    assert refused.status == 2


def test_sequences_on_standard_input(cli: Command) -> None:
    answers = json.loads(cli("solve", "2x2x2", "--moves", "-", "--json", stdin="U\n\nR U\n").out)
    assert [(one["line"], one["distance"]) for one in answers] == [(1, 1), (3, 2)]
    refused = cli("solve", "2x2x2", "--moves", "-", stdin="U\n\nR Q\n")
    assert (refused.status, refused.out) == (2, "")
    assert "standard input, line 3: moves 'R Q': unknown move 'Q' at character 3" in refused.err
    assert cli("solve", "2x2x2", "--batch", "x.txt", "--moves", "U").status == 2


def test_inserted_lines_are_not_continued(some: Command) -> None:
    some(*BATCH, "--output", "out.csv")
    Path("some.txt").write_text("\n" + "\n\n".join(SOME))
    refused = some(*BATCH, "--output", "out.csv")
    assert refused.status == 2
    assert "is on line 2, but its answer in out.csv names line '1'; name another file" in refused.err


def test_queries_of_sequences(cli: Command) -> None:
    Path("stack.toml").write_text(toml({"name": "stack", "family": "pancake", "n": 5}))
    cli("run", "stack.toml", "--quiet")
    shown = cli("query", "stack", "--moves", "-", stdin="// a comment\n2 3\n\n4 7\n5\n")
    assert shown.status == 2
    assert shown.out.splitlines() == ["line 2: 3 1 2 4 5: 2", "line 5: 5 4 3 2 1: 1"]
    assert "line 4: moves '4 7': unknown move '7' at character 3" in shown.err
    found = json.loads(cli("query", "stack", "--moves", "-", "--path", "--json", stdin="2 3\n").out)
    assert (found[0]["line"], found[0]["distance"], len(found[0]["path"])) == (1, 2, 3)
    assert json.loads(cli("query", "stack", "-", "--json", stdin="\n2 1 3 4 5\n").out)[0]["line"] == 2
    assert cli("query", "stack", "-", "--moves", "-").status == 2
