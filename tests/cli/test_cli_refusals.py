"""Commands with a mistake get one line on stderr, and leave all stores as they are.

Each row of refusals.csv has a command, its exit status, and a part of the line.
"""

import csv
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stores import stop_after
from tiling_stores import SQUARE, board_file, tiled

from antipodes.cli.main import COMMANDS, load_command
from antipodes.puzzles.config import load_config
from antipodes.tables.run import RunOptions, run_puzzle

ROWS = list(csv.DictReader(Path(__file__).with_name("refusals.csv").open(encoding="utf-8")))
NUMBERS = ("", "abc", "1.5.2", "nan", "0x10", "٣", "a\x1b[31m\nb", "\udcff", "--json")
EIGHT = "1 2 3 4 5 6 7 8 0"
RAW = re.compile(r"unexpected|defect|internal|Invalid value|should be|unable to parse|is not a valid|not in the range")
"""Words of the libraries that read the options, and of a defect."""


@pytest.fixture(scope="session")
def stores(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The stores and files that commands name in capitals."""
    folder, eight = tmp_path_factory.mktemp("refusals"), load_config("eight-puzzle")
    (folder / "own.py").write_text("def broken(positions):\n    return positions[10**6]\n\n\nnumber = 5\n")
    (folder / "some.txt").write_text(EIGHT)
    (folder / "bad.txt").write_text(f"{EIGHT}\n\n1 2 3 4 5 6 7 8 9\n{EIGHT}\n")
    (folder / "foreign").mkdir()
    (folder / "foreign" / "commit.json").write_text('{"format": "mine"}')
    run_puzzle(eight, folder / "unfinished.zarr", RunOptions(workers=1), interrupted=stop_after(10))
    run_puzzle(eight, folder / "counts.zarr", RunOptions(workers=1, counts_only=True))
    return {
        "EIGHT": str(finished),
        "UNFINISHED": str(folder / "unfinished.zarr"),
        "COUNTS": str(folder / "counts.zarr"),
        "TILINGS": str(tiled(SQUARE, folder / "square.zarr")),
        "BOARD": str(board_file(SQUARE, folder / "board.toml")),
        "OWN": str(folder / "own.py"),
        "SOME": str(folder / "some.txt"),
        "BAD": str(folder / "bad.txt"),
        "FOREIGN": str(folder / "foreign"),
    }


def written(stores: dict[str, str]) -> dict[Path, tuple[int, int]]:
    """When each file of the stores was written, and its size."""
    files = (file for store in stores.values() for file in (Path(store), *Path(store).rglob("*")))
    return {file: ((found := file.stat()).st_mtime_ns, found.st_size) for file in files}


@pytest.mark.parametrize("row", ROWS, ids=[row["command"][:80] for row in ROWS])
def test_one_line_names_the_mistake_and_nothing_is_written(
    row: dict[str, str], stores: dict[str, str], refused: Callable[..., str], tmp_path: Path
) -> None:
    named = re.compile("^[A-Z]+(?=:|$)")
    words = [named.sub(lambda name: stores.get(name[0], name[0]), word) for word in shlex.split(row["command"])]
    before = written(stores)
    message = refused(*words, status=int(row["status"]))
    assert row["message"] in message
    assert not RAW.search(message)
    assert "start over" not in message
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    assert written(stores) == before


@pytest.mark.parametrize("command", ["branching", "layers"])
def test_a_choice_of_two_is_not_repeated(command: str, finished: Path, refused: Callable[..., str]) -> None:
    assert refused(command, finished, "--csv", "--json") == "antipodes: give only one of --csv and --json\n"


def options() -> Iterator[tuple[str, str, bool]]:
    """Each option of each command that takes a value: the command, the option, and whether it takes a number."""
    for commands in COMMANDS.values():
        for command in commands:
            for one in load_command(command).params:
                if one.param_type_name == "option" and not one.is_flag:
                    yield command, max(one.opts, key=len), one.type_descriptor.annotation in (int, float)


NUMERIC = sorted((command, name) for command, name, is_number in options() if is_number)


def test_all_numeric_options_are_known() -> None:
    assert ("query", "--depth") in NUMERIC
    assert ("farthest", "--size") in NUMERIC
    assert ("run", "--workers") in NUMERIC


@pytest.mark.parametrize(("command", "option"), NUMERIC)
def test_no_number(command: str, option: str, refused: Callable[..., str]) -> None:
    required = ["--to", "x.csv"] if command == "graph" else ["--output", "x.html"] if command == "report" else []
    for value in NUMBERS:
        message = refused(command, "x", *required, option, value)
        assert message.startswith(f"antipodes: {option}: expected a"), message
        assert not RAW.search(message)
        assert "found " in message
