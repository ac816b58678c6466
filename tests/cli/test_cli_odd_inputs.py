"""Odd arguments, files and configs are refused with one short line."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stores import toml

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.system.text_file import MAX_BYTES
from antipodes_tasks.base.errors import ConfigError

Refused = Callable[..., str]
ODD = [
    "",
    " ",
    "\n",
    "\udcff\udcfe",
    "a\x00b",
    "\x1b[31m",
    "9" * 5000,
    "-1",
    "nan",
    "x" * 100_000,
    "/dev/zero",
    "s3:/",
    "é",
]
LINE: dict[str, Any] = {"name": "line", "family": "sliding", "rows": 1, "columns": 3, "start": "1 2 0"}
JUMP: dict[str, Any] = {"name": "jump", "family": "jump", "start": "AB-"}
TAKING_TEXT = [
    "plan ODD",
    "run ODD --quiet",
    "run eight-puzzle --quiet --scheduler ODD",
    "run eight-puzzle --quiet --memory-limit ODD",
    "resume ODD --quiet",
    "status ODD",
    "graph ODD --to graph.csv",
    "graph eight-puzzle --to ODD",
    "report ODD --output page.html",
    "report TABLE --output ODD",
    "query ODD 123456780",
    "query TABLE ODD",
    "query TABLE --pattern ODD",
    "solve ODD 123456780",
    "solve eight-puzzle ODD",
    "solve eight-puzzle 123456780 --to ODD",
    "solve eight-puzzle 123456780 --store ODD",
    "solve eight-puzzle 123456780 --method ODD",
    "solve eight-puzzle 123456780 --method ida-star --heuristic ODD",
    "rank ODD 123456780",
    "rank eight-puzzle ODD",
    "rank --permutation ODD",
    "rank --permutation 3120 --algorithm ODD",
    "unrank ODD 5",
    "tile ODD --quiet",
    "tile 3x20 --quiet --method ODD",
    "ODD",
]
TAKING_NUMBERS = [
    "run eight-puzzle --quiet --workers ODD",
    "run eight-puzzle --quiet --checkpoint-every ODD",
    "run eight-puzzle --quiet --scheduler-timeout ODD",
    "farthest TABLE --limit ODD",
    "solve eight-puzzle 123456780 --max-depth ODD",
    "solve eight-puzzle 123456780 --list ODD",
    "solve knights-labelled --method routes --limit ODD",
    "unrank eight-puzzle ODD",
    "unrank --permutation ODD --elements 4",
    "unrank --permutation 4 --elements ODD",
    "plan eight-puzzle --workers ODD",
    "verify TABLE --workers ODD",
    "tile 3x20 --quiet --workers ODD",
]
ACCEPTED = {
    **dict.fromkeys(("--limit", "--max-depth", "--list"), ("1" * 30,)),
    "--checkpoint-every": ("1.5", "1" * 30, "1e400", "1" * 5000),
}
NAMED = {"--to": "", "--memory-limit": "memory"}
"""What messages call these options; a wrong goal is named itself."""
ODD_NUMBERS = ["", "two", "-1", "1.5", "nan", "-inf", "1e400", "1" * 30, "1" * 5000, "²", "0x10", "x" * 5000]


@pytest.mark.parametrize("command", [*TAKING_TEXT, *TAKING_NUMBERS])
def test_an_odd_text_or_number(command: str, finished: Path, refused: Refused) -> None:
    """The message names the option."""
    *_, before, last = ["antipodes", *command.split()]
    named = NAMED.get(before, before) if before.startswith("--") and last == "ODD" else ""
    for odd in ODD if command in TAKING_TEXT else ODD_NUMBERS:
        if odd in ACCEPTED.get(before, ()) and command in TAKING_NUMBERS:
            continue
        arguments = [{"TABLE": str(finished), "ODD": odd}.get(word, word) for word in command.split()]
        message = refused(*arguments)
        assert "unexpected" not in message, odd
        assert named.strip("-") in message, odd


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 50_000) + " = 1",
        "[" + ".".join("a" * 50_000) + "]",
        "a = {" + ".".join("a" * 50_000) + " = 1}",
        "a = " + "{a = " * 10_000,
        "a = " + "[" * 50_000,
        'a = [["""b""""", ' + "[" * 50,
        "a = 0x" + "f" * 100_000,
        "a = " + "1" * 100_000,
        "x" * 100_000 + " = 1",
        "a = 1\n" * 2,
        '"' + "x" * 100_000 + '" = 1\n"' + "x" * 100_000 + '" = 1',
        '[puzzle]\n"' + "x" * 100_000 + '" = 1\nfamily = "jump"',
        '[board]\n"' + "x" * 100_000 + '" = 1',
        '[puzzle]\n[run]\n"' + "x" * 100_000 + '" = 1',
        "a = '''" + "." * 100_000,
        "\ufeff\ufeff[puzzle]",
        "[puzzle]\n" * (MAX_BYTES // 9 + 1),
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.parametrize("command", ["plan", "tile"])
def test_an_odd_file(text: str, command: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "odd.toml").write_text(text)
    refused(command, "odd.toml")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_bytes_that_are_not_text(encoding: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "odd.toml").write_bytes('[puzzle]\nname = "ä"'.encode(encoding))
    assert "UTF-8" in refused("plan", "odd.toml")


def test_files_that_are_not_regular(tmp_path: Path, refused: Refused) -> None:
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "sparse.toml").open("wb") as sparse:
        sparse.truncate(5 << 30)
    for name in ("fifo", ".", "/dev/zero", "/dev/null", "/dev/stdin", "sparse.toml"):
        refused("plan", name)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "marked.toml").write_bytes(toml(LINE).encode("utf-8-sig"))
    assert load_config(str(tmp_path / "marked.toml")).puzzle.name == "line"


@pytest.mark.parametrize(
    "changes",
    [
        {"start": "1 0 " + "9" * 5000},
        {"start": "1 0 " + "x" * 33},
        {"start": "1 2 0 " * 20_000},
        {"start": ["1 2 0"] * 3 + ["1 3 0"]},
        {"start": ["x" * 5000]},
        {"start": [[["x" * 5000]]] * 5000},
        {"rows": 10**400},
        {"rows": "9" * 5000},
        {"name": "a/b"},
        {"name": "a\nb"},
        {"name": "a\u0000b"},
        {"name": "\u001b[31m"},
        {"name": "x" * 300},
        {"name": "𝔸" * 60},
        {"name": ".."},
        {"name": "."},
        {"name": "../../line"},
        {"name": "/dev/null/line"},
        {"name": 5},
        {"family": "x" * 5000},
        {"description": ["x" * 5000]},
    ],
    ids=lambda changes: str(changes)[:30],
)
def test_an_odd_sliding_puzzle(changes: dict[str, Any], tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "odd.toml").write_text(toml({**LINE, **changes}))
    refused("plan", "odd.toml")


@pytest.mark.parametrize(
    "changes",
    [
        {"start": "AB-" + "#" * 60_000, "moves": "king"},
        {"start": "AB-#\n" * 20_000, "moves": "king"},
        {"start": "A B " + "x" * 8000 + " -", "moves": "king"},
        {"start": "A B " + "%" * 8000 + " -", "moves": "king"},
        {"moves": "x" * 8000},
        {"edges": [[0, 10**400]]},
        {"edges": [[0, [0] * 5000]]},
        {"edges": [[0, 1.5]]},
        {"offsets": "x" * 5000},
    ],
    ids=lambda changes: str(changes)[:30],
)
def test_an_odd_jump_puzzle(changes: dict[str, Any], tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "odd.toml").write_text(toml({**JUMP, **changes}))
    refused("plan", "odd.toml")


@pytest.mark.parametrize(
    "text",
    [
        'name = "b"\ncells = "' + "#" * 900_000 + '"',
        'name = "b"\ncells = "' + "." * 900_000 + '"',
        'name = "b"\ncells = """\n' + "...\n\n" * 100_000 + '"""',
        'name = "b"\ncells = """\n..\n' + "." * 8000 + '"""',
        'name = "b"\ncells = "' + "x" * 8000 + '"',
        'name = "b\\nc"\ncells = "....."\npieces = "I"',
        'name = "a/b"\ncells = "....."\npieces = "I"',
        'name = "' + "b" * 300 + '"\ncells = "....."\npieces = "I"',
        'name = "b"\ncells = "....."\npieces = "' + "I" * 100_000 + '"',
        'name = "b"\ncells = "....."\npieces = ["' + "I" * 100_000 + '"]',
        'name = "b"\ncells = "....."\n[board.pieces]\nA = "' + "#" * 900_000 + '"',
        'name = "b"\ncells = "....."\n[board.pieces]\nA = "' + " " * 900_000 + '#"',
        'name = "b"\ncells = "....."\n[board.pieces]\n"' + "x" * 8000 + '" = "#####"',
        'name = "b"\ncells = "....."\n[board.pieces]\n"\\n" = "#####"',
        'name = "b"\ncells = "....."\n[board.pieces]\n"" = "#####"',
        'name = "b"\ncells = "....."\n[board.pieces]\n' + "".join(f'p{number} = "#"\n' for number in range(5_000)),
        'name = "b"\ncells = "....."\n[board.pieces]\nA = { ' + "b.c" * 5 + " = 1 }",
    ],
    ids=lambda text: text[:40],
)
def test_an_odd_board(text: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "odd.toml").write_text("[board]\n" + text)
    refused("tile", "odd.toml")


@pytest.mark.parametrize(
    "run",
    [
        "workers = 0",
        'memory_limit = "1KB"',
        'memory_limit = "lots"',
        'scheduler = "slurm"',
        "overwrite = 1",
        "workers = 1000000000",
        "workers = 0x" + "f" * 400,
        "workers = true",
        "workers = 2026-01-01",
        "checkpoint_every = nan",
        "checkpoint_every = -1",
        "checkpoint_every = 0x" + "f" * 400,
        "checkpoint_every = 12:00:00",
        "scheduler_timeout = 0",
        "scheduler_timeout = nan",
        "scheduler_timeout = 86401",
        "memory_limit = -1",
        "memory_limit = 0",
        "memory_limit = 0x" + "f" * 400,
        'memory_limit = "1e400"',
        'memory_limit = ""',
        'store = ""',
        'store = "a\\u0000b"',
        'store = "' + "x" * 300 + '"',
        'store = "' + "x/" * 5000 + '"',
        'scheduler = "' + "x" * 300 + '"',
        'scheduler = "tcp://a\\u0000b:1"',
        'scheduler_file = "a\\u0000b"',
        "quiet = 1",
        "overwrite = 2026-01-01T00:00:00",
        "store = " + "[" * 10 + "]" * 10,
    ],
    ids=lambda run: run[:30],
)
def test_an_odd_default_of_a_run(run: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "odd.toml").write_text(toml(LINE) + f"\n{run}\n")
    assert "unexpected" not in refused("run", "odd.toml")


@pytest.mark.parametrize("key", ["edges", "offsets"])
def test_pairs_that_are_repeated_count_once(key: str) -> None:
    assert len(puzzle_from({**JUMP, key: [[0, 1]] * 500_000}).moves) == 2


def test_offsets_that_lead_off_the_board_do_nothing() -> None:
    board = {**JUMP, "start": "A" * 1023 + "-"}
    assert len(puzzle_from({**board, "offsets": [[0, 1], *([down, 1] for down in range(1, 100_000))]}).moves) == 1023


def test_a_value_of_a_manifest_is_bounded_too() -> None:
    with pytest.raises(ConfigError, match="at most 65,536 characters"):
        puzzle_from({**JUMP, "start": "#" * 9_000_000 + "A-", "moves": "king"})
