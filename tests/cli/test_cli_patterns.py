"""The tables of a puzzle's own patterns: what they cost, how they are made, and that searches find them."""

import json
import re
from pathlib import Path

import pytest
from programs import Command
from stores import toml

import antipodes as ap
from antipodes.cli.running import Interrupts
from antipodes_tasks.base.errors import InputError

EIGHT = {"name": "own", "family": "sliding", "rows": 3, "columns": 3, "start": "1 2 3 4 5 6 7 8 0"}
FAR = "8 6 7 2 5 4 3 0 1"


@pytest.fixture
def own(cli: Command) -> Command:
    """The command, where own.toml is a puzzle with two patterns."""
    for name, start in (("low", "1 2 3 4 x x x x 0"), ("high", "x x x x 5 6 7 8 0")):
        Path(f"{name}.toml").write_text(toml({**EIGHT, "name": name, "start": start, "free": ["x"]}))
    Path("own.toml").write_text(toml(EIGHT) + "\n[solve]\npatterns = ['low.toml', 'high.toml']\n")
    return cli


def test_tables_are_made_once_and_found_by_themselves(own: Command) -> None:
    before = own("solve", "own.toml", FAR, "--json")
    assert json.loads(before.out)["distance"] == 31
    told = r"the tables of low and high are not built \(11,040 entries, .* of disk\); build them with"
    assert re.search(told, before.err)
    assert own("solve", "own.toml", FAR, "--quiet").err == ""
    assert not Path("outputs").exists()
    built = own("solve", "own.toml", FAR, "--build", "--json")
    found = json.loads(built.out)
    assert (found["method"], found["heuristic"], found["distance"]) == ("ida-star", "low + high, greatest of 2", 31)
    assert "building the tables of low and high: 11,040 entries" in built.err
    assert "high: 5,520 entries in" in built.err
    assert [one["name"] for one in json.loads(own("list", "--json").out)] == ["high", "low"]
    again = own("solve", "own.toml", FAR, "--build", "--json")
    assert (json.loads(again.out)["heuristic"], again.err) == (found["heuristic"], "")
    Path("some.txt").write_text(f"{FAR}\n{EIGHT['start']}\n")
    assert ap.load_patterns("own.toml").name == found["heuristic"]
    batch = own("solve", "own.toml", "--batch", "some.txt", "--json")
    assert [(one["distance"], one["heuristic"]) for one in json.loads(batch.out)] == [
        (31, found["heuristic"]),
        (0, found["heuristic"]),
    ]
    for others in (("--method", "bfs"), ("--heuristic", "manhattan", "--method", "ida-star"), ("--to", FAR)):
        assert "heuristic" not in json.loads(own("solve", "own.toml", EIGHT["start"], *others, "--json").out)


def test_the_large_set_is_built_only_if_asked_for(own: Command) -> None:
    Path("own.toml").write_text(toml(EIGHT) + "\n[solve]\npatterns = ['low.toml']\nlarge_patterns = ['high.toml']\n")
    own("solve", "own.toml", "--build=small", "--quiet")
    planned = json.loads(own("plan", "own.toml", "--json").out)
    assert [(one["name"], one["complete"], one["large"]) for one in planned["patterns"]] == [
        ("low", True, False),
        ("high", False, True),
    ]
    assert (planned["build"], planned["build_large"]["index_size"]) == (None, 5520)
    assert "the table of high: 5,520 entries" in own("plan", "own.toml").out
    small = own("solve", "own.toml", "--build", FAR, "--json")
    assert (json.loads(small.out)["heuristic"], small.err) == ("low, greatest of 2", "")
    large = own("solve", "own.toml", "--build=large", FAR, "--json")
    assert json.loads(large.out)["heuristic"] == "low + high, greatest of 2"
    assert ap.load_patterns("own.toml", build="large").name == "low + high, greatest of 2"
    assert json.loads(own("plan", "own.toml", "--json").out)["build_large"] is None


@pytest.mark.usefixtures("own")
def test_a_set_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="own defines no large pattern tables"):
        ap.load_patterns("own.toml", build="large")
    with pytest.raises(InputError, match="expected build as True, False, 'small' or 'large', found 'huge'"):
        ap.load_patterns("own.toml", build="huge")


def test_the_table_of_the_whole_puzzle_goes_before_those_of_patterns(own: Command) -> None:
    for name in ("own", "low", "high"):
        assert own("run", f"{name}.toml", "--quiet").status == 0
    found = own("solve", "own.toml", FAR, "--json")
    assert "heuristic" not in json.loads(found.out)
    guided = own("solve", "own.toml", FAR, "--method", "ida-star", "--json")
    assert json.loads(guided.out)["heuristic"] == "low + high, greatest of 2"
    assert own("solve", "own.toml").err == (
        "antipodes: no position given; give one, because own has no separate goal\n"
    )


def test_a_part_of_the_tables_guides_a_search_too(own: Command) -> None:
    assert own("run", "low.toml", "--quiet").status == 0
    found = own("solve", "own.toml", FAR, "--json")
    assert (json.loads(found.out)["heuristic"], json.loads(found.out)["distance"]) == ("low, greatest of 2", 31)
    assert "the table of high is not built (5,520 entries" in found.err
    planned = own("plan", "own.toml").out
    assert f"pattern      low: finished, in {Path('outputs/low.zarr')}" in planned
    assert "patterns     the table of high: 5,520 entries" in planned


def test_tables_that_do_not_fit_into_memory_are_not_used(own: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own("run", "low.toml", "--quiet").status == 0
    monkeypatch.setattr("antipodes.solving.pattern_heuristic.available_memory", lambda: 5000)
    found = own("solve", "own.toml", FAR, "--json")
    assert "heuristic" not in json.loads(found.out)
    assert "bytes of memory, but only 5,000 are free; searching without them" in found.err
    assert own("solve", "own.toml", FAR, "--tables", "low").status == 2


def test_threads_search_with_tables_alone_and_the_time_counts_while_these_are_loaded(own: Command) -> None:
    assert own("run", "low.toml", "--quiet").status == 0
    found = own("solve", "own.toml", FAR, "--tables", "low", "--threads", "2", "--json")
    assert json.loads(found.out)["distance"] == 31
    no_time = own("solve", "own.toml", FAR, "--tables", "low", "--max-seconds", "0", "--json")
    assert json.loads(no_time.out)["outcome"] == "time-limit"
    assert "the time limit was reached before the tables were loaded" in no_time.err
    for others, message in (
        (("--heuristic", "manhattan", "--method", "ida-star"), "--threads needs pattern tables"),
        (("--method", "bfs"), "cannot be combined with --method bfs"),
    ):
        refused = own("solve", "own.toml", FAR, "--threads", "2", *others)
        assert (refused.status, message in refused.err) == (2, True)
    batch = own("solve", "own.toml", "--batch", "-", "--threads", "2")
    assert batch.err == "antipodes: --threads cannot be combined with --batch; set --workers instead\n"


def test_building_alone_is_interrupted_and_resumed(own: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Interrupts, "requested", lambda self: True)
        stopped = own("solve", "own.toml", "--build")
    assert (stopped.status, stopped.out) == (75, "")
    assert "resume with: antipodes resume outputs/low.zarr" in stopped.err
    whole = own("solve", "own.toml", "--build")
    assert (whole.status, whole.out) == (0, "")
    assert all(one["complete"] for one in json.loads(own("plan", "own.toml", "--json").out)["patterns"])


def test_what_has_no_patterns_builds_none(cli: Command) -> None:
    with pytest.raises(InputError, match="no pattern tables given, and the config"):
        ap.load_patterns("eight-puzzle")
    refused = cli("solve", "eight-puzzle", "--build")
    assert refused.status == 2
    assert "--build: eight-puzzle defines no pattern tables" in refused.err


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--method", "bfs"), "--method bfs"),
        (("--to", FAR), "--to"),
        (("--tables", "low"), "--tables"),
        (("--method", "ida-star", "--heuristic", "manhattan"), "--heuristic"),
    ],
)
def test_tables_that_the_search_cannot_use_are_not_built(own: Command, options: tuple[str, ...], named: str) -> None:
    refused = own("solve", "own.toml", FAR, "--build", *options)
    expected = f"antipodes: --build cannot be combined with {named}, which does not use the puzzle's pattern tables\n"
    assert (refused.status, refused.err) == (2, expected)
    assert not Path("outputs").exists()


@pytest.mark.slow
def test_puzzles_too_large_for_a_table_say_so_in_plans_and_runs(cli: Command) -> None:
    shown = cli("plan", "twenty-four-puzzle").out
    assert "twenty-four-puzzle: about 10^25 positions\n  can run      no: expected at most 2^63 - 1" in shown
    assert "724,032,000 entries" in shown
    assert shown.endswith("solve        single positions with: antipodes solve twenty-four-puzzle POSITION\n")
    refused = cli("run", "twenty-four-puzzle")
    assert refused.status == 2
    assert refused.err.endswith(
        "found about 10^25; solve single positions with its pattern tables: antipodes solve twenty-four-puzzle POSITION"
        "\n"
    )
