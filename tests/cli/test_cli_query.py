import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from key_puzzles import TILES
from programs import Command, Process
from stores import stop_after, toml

from antipodes.puzzles.config import Config, load_config
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import UnreachableError

FAR = "8 6 7 2 5 4 3 0 1"
ODD = "2 1 3 4 5 6 7 8 0"
UNREACHABLE = "unreachable (odd permutation: with the empty square back in its place, two pieces are swapped)"


@pytest.mark.parametrize(
    "text", [FAR, "867254301", "8,6,7,2,5,4,3,0,1", "8 6 7 / 2 5 4 / 3 . 1", "867/254/301", "8 6 7\n2 5 4\n3 0 1\n"]
)
def test_spellings_of_a_position(text: str, cli: Command, finished: Path) -> None:
    outcome = cli("query", finished, text)
    assert (outcome.status, outcome.out, outcome.err) == (0, f"{FAR}: 31\n", "")


def test_symbols_as_separate_arguments(cli: Command, finished: Path) -> None:
    assert cli("query", finished, *FAR.split()).out == f"{FAR}: 31\n"


def test_json(cli: Command, finished: Path) -> None:
    outcome = cli("query", finished, FAR, ODD, "123456780", "--json")
    assert json.loads(outcome.out) == [
        {"position": FAR, "distance": 31},
        {"position": ODD, "distance": None, "obstacle": UNREACHABLE[len("unreachable (") : -1]},
        {"position": "1 2 3 4 5 6 7 8 0", "distance": 0},
    ]


def test_paths(cli: Command, finished: Path) -> None:
    reached, odd = json.loads(cli("query", finished, "--path", "--json", FAR, ODD).out)
    assert len(reached["path"]) == 32
    assert (reached["path"][0], reached["path"][-1]) == (FAR, "1 2 3 4 5 6 7 8 0")
    for here, there in zip(reached["path"], reached["path"][1:], strict=False):
        assert sum(a != b for a, b in zip(here.split(), there.split(), strict=True)) == 2
    assert odd["path"] is None
    assert f"unreachable ({odd['obstacle']})" == UNREACHABLE
    assert "obstacle" not in reached
    out = cli("query", finished, "--path", FAR, ODD).out
    assert f"{ODD}: {UNREACHABLE}\n" in out
    assert out.count("╭") == 32


def test_from_stdin(cli: Command, finished: Path) -> None:
    outcome = cli("query", finished, "-", "--json", stdin=f"\n{FAR}\n   \n867 254 301\n\n{ODD}")
    assert [answer["distance"] for answer in json.loads(outcome.out)] == [31, 31, None]
    assert json.loads(cli("query", finished, "-", "--json", stdin="").out) == []


@pytest.mark.parametrize("text", ["1 2 3", "/", "1 2 3 4 5 6 7 8 9", "x" * 1000, "ééééééééé"])
def test_the_line_of_an_invalid_position(text: str, refused: Callable[..., str], finished: Path) -> None:
    message = refused("query", finished, "-", stdin=f"\n\n{text}\n")
    assert f"line 3: position {text!r}"[:20] in message


def test_what_comes_after_two_dashes_is_a_position(finished: Path, cli: Command) -> None:
    assert cli("query", finished, "--json", "--", FAR).out == cli("query", finished, FAR, "--json").out


def test_a_bad_line_among_many(finished: Path, cli: Command) -> None:
    lines = [FAR, "1 2 3", "", ODD, "nonsense", FAR]
    outcome = cli("query", finished, "-", stdin="\n".join(lines))
    assert outcome.status == 2
    assert outcome.out == f"{FAR}: 31\n{ODD}: {UNREACHABLE}\n{FAR}: 31\n"
    second, fifth, summary = outcome.err.splitlines()
    assert second == "antipodes: line 2: position '1 2 3': expected 9 symbols, found 3"
    assert fifth.startswith("antipodes: line 5: position 'nonsense': ")
    assert summary == "antipodes: 2 of 5 lines have no answer"
    outcome = cli("query", finished, "-", "--json", stdin="\n".join(lines))
    assert [found["distance"] for found in json.loads(outcome.out)] == [31, None, 31]


def test_lines_that_an_unfinished_table_does_not_reach(unfinished: Path, cli: Command) -> None:
    outcome = cli("query", unfinished, "-", stdin=f"{FAR}\n123456708\n")
    assert (outcome.status, outcome.out) == (1, "1 2 3 4 5 6 7 0 8: 1\n")
    assert outcome.err.startswith(f"antipodes: line 1: {FAR} is beyond depth 10")


def test_an_unfinished_table_excludes_positions_of_the_other_parity(cli: Command, tmp_path: Path) -> None:
    """A list of keys would have them as well as others, but it is known that no move leads to them."""
    store, even, odd = tmp_path / "t.zarr", "2 1 3 5 4 0", "2 1 3 4 5 0"
    run_puzzle(Config(TILES), store, RunOptions(workers=1, checkpoint_every=0), interrupted=stop_after(2))
    outcome = cli("query", store, odd)
    assert (outcome.status, outcome.out, outcome.err) == (0, f"{odd}: {UNREACHABLE}\n", "")
    assert f"{even} is beyond depth 2" in cli("query", store, even).err
    with open_table(store) as table, pytest.raises(UnreachableError, match="odd permutation"):
        table.distance(odd)


@pytest.mark.parametrize(
    "command",
    [
        ["query", "STORE", FAR],
        ["query", "STORE", FAR, "--path"],
        ["query", "STORE", "--depth", "0"],
        ["query", "STORE", "--pattern", "12345678?"],
        ["farthest", "STORE"],
        ["solve", "eight-puzzle", FAR, "--method", "table", "--store", "STORE"],
    ],
)
def test_a_store_of_a_refused_run_has_nothing_yet(
    command: list[str], refused: Callable[..., str], tmp_path: Path
) -> None:
    """The store exists before the search begins, for example on a cluster, where the workers check it."""
    puzzle = load_config("eight-puzzle")
    TableStore(tmp_path / "t.zarr").create(puzzle, plan_run(puzzle.puzzle, 1).cut)
    message = refused(*("t.zarr" if word == "STORE" else word for word in command), status=1)
    assert message.endswith("nothing is committed yet; resume with: antipodes resume t.zarr\n")


def test_matches_in_an_unfinished_table(unfinished: Path, cli: Command) -> None:
    outcome = cli("query", unfinished, "--pattern", "12345678?")
    assert outcome.out.startswith("1 position matches 12345678?, 1 reached up to depth 10, where the unfinished table")
    far = cli("query", unfinished, "--pattern", "867254301")
    assert far.out.startswith("1 position matches 867254301, 0 reached up to depth 10, where")


def test_the_wrong_file_is_given_up(finished: Path, cli: Command) -> None:
    outcome = cli("query", finished, "-", stdin="wrong\n" * 5000)
    assert (outcome.status, outcome.out, len(outcome.err.splitlines())) == (2, "", 101)
    assert "none of the first 100 lines is a position" in outcome.err
    assert cli("query", finished, "-", stdin=f"{FAR}\n" + "wrong\n" * 1500).err.count("\n") == 1501


def test_an_answer_comes_when_the_input_pauses(finished: Path, process: Process) -> None:
    filtering = process("query", finished, "-", stdin=subprocess.PIPE)
    assert filtering.stdin
    assert filtering.stdout
    for text, answer in ((FAR, f"{FAR}: 31\n"), ("123456780", "1 2 3 4 5 6 7 8 0: 0\n")):
        filtering.stdin.write(f"{text}\n")
        filtering.stdin.flush()
        assert filtering.stdout.readline() == answer
    assert filtering.communicate() == ("", "")
    assert filtering.returncode == 0


def test_positions_at_a_depth(finished: Path, cli: Command) -> None:
    texts = cli("query", finished, "--depth", 31).out.splitlines()
    assert texts == ["6 4 7 8 5 0 3 2 1", FAR]
    all_of_them = cli("query", finished, "--depth", 12).out
    assert len(all_of_them.splitlines()) == 748
    answers = cli("query", finished, "-", stdin=all_of_them).out.splitlines()
    assert {answer.partition(": ")[2] for answer in answers} == {"12"}
    assert cli("query", finished, "--depth", 12, "--limit", 3).out.splitlines() == all_of_them.splitlines()[:3]
    assert cli("query", finished, "--depth", 24, "--count").out == "24047\n"


def test_random_positions_at_a_depth(finished: Path, cli: Command) -> None:
    drawn = [cli("query", finished, "--depth", 20, "--random", 50, "--seed", seed).out for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0].splitlines())) == 50, "none twice"
    assert {line[-2:] for line in cli("query", finished, "-", stdin=drawn[0]).out.splitlines()} == {"20"}
    assert set(cli("query", finished, "--depth", 1, "--random", 9).out.splitlines()) == {
        "1 2 3 4 5 6 7 0 8",
        "1 2 3 4 5 0 7 8 6",
    }


def test_a_scramble_and_its_solution(finished: Path, cli: Command) -> None:
    """The scramble leads from the start to the position, as --moves reads it, and the path leads back."""
    words = ("query", finished, "--depth", 11, "--random", 2, "--seed", 4)
    texts = cli(*words).out.splitlines()
    scrambles = cli(*words, "--as-moves").out.splitlines()
    assert len(scrambles) == 2
    shown = json.loads(cli(*words, "--as-moves", "--path", "--json").out)
    assert (shown["depth"], shown["positions"]) == (11, texts)
    for text, scramble, answer in zip(texts, scrambles, shown["answers"], strict=True):
        assert cli("query", finished, "--moves", scramble).out == f"{text}: 11\n"
        assert (answer["position"], answer["distance"], " ".join(answer["scramble"])) == (text, 11, scramble)
        assert (answer["scramble_from"], answer["path"][0], len(answer["path"])) == ("1 2 3 4 5 6 7 8 0", text, 12)
        assert cli("query", finished, text, "--as-moves").out == f"{scramble}\n"
    drawn = cli(*words, "--as-moves", "--path").out
    assert [line[10:] for line in drawn.splitlines() if line.startswith("scramble: ")] == scrambles
    assert drawn.count("╭───────╮") == 24


def test_scrambles_of_odd_positions(finished: Path, cli: Command, tmp_path: Path) -> None:
    assert cli("query", finished, ODD, "1 2 3 4 5 6 7 8 0", "--as-moves").out == "unreachable\n(no moves)\n"
    several = {"name": "several", "family": "sliding", "rows": 1, "columns": 3, "start": ["a 0 b", "0 b a"]}
    one_way = {"name": "one-way", "family": "jump", "start": "A--", "offsets": [[0, 1]]}
    for table in (several, one_way):
        (tmp_path / f"{table['name']}.toml").write_text(toml(table))
        cli("run", f"{table['name']}.toml", "--quiet")
    assert cli("query", "several", "b 0 a", "--as-moves").out == "L (from 0 b a)\n"
    scramble = cli("query", "one-way", "--as-moves", "--", "--A").out.strip()
    assert cli("query", "one-way", "--moves", scramble).out == "--A: 2\n"


def test_json_of_positions_at_a_depth(finished: Path, cli: Command) -> None:
    shown = json.loads(cli("query", finished, "--depth", 31, "--limit", 1, "--json").out)
    assert shown == {"depth": 31, "count": 2, "positions": ["6 4 7 8 5 0 3 2 1"]}
    shown = json.loads(cli("query", finished, "--depth", 31, "--count", "--json").out)
    assert shown == {"depth": 31, "count": 2, "positions": []}


def test_depths_of_an_unfinished_table(unfinished: Path, cli: Command) -> None:
    assert cli("query", unfinished, "--depth", 10, "--count").out == "286\n"
    assert len(cli("query", unfinished, "--depth", 10).out.splitlines()) == 286


def test_unfinished_tables_do_not_guess(cli: Command, unfinished: Path) -> None:
    assert cli("query", unfinished, "123456708").out.endswith(": 1\n")
    assert cli("query", unfinished, ODD).out == f"{ODD}: {UNREACHABLE}\n", "that is known without the table"


def test_positions_of_jump_puzzles_begin_with_dashes(cli: Command) -> None:
    cli("run", "knights-coloured", "--quiet")
    store = "outputs/knights-coloured.zarr"
    for text in (
        "---BBBWWW---",
        "-B-B-BW-W-W-",
        "--BB-BW-WW--",
        "-BBBWWW-----",
        "- B - B - B W - W - W -",
        "--- / BBB / WWW / ---",
    ):
        outcome = cli("query", store, text, "--json")
        assert outcome.status == 0, (text, outcome)
        assert json.loads(outcome.out)[0]["distance"] > 0


def test_several_positions_of_a_small_puzzle(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(
        toml({"name": "small", "family": "sliding", "rows": 1, "columns": 3, "start": "1 2 0"})
    )
    cli("run", "small.toml", "--quiet")
    for arguments in (["120", "102"], ["1 2 0", "1 0 2"]):
        outcome = cli("query", "outputs/small.zarr", *arguments)
        assert outcome.out == "1 2 0: 0\n1 0 2: 1\n", outcome
    assert cli("query", "outputs/small.zarr", "1", "0", "2").out == "1 0 2: 1\n"
