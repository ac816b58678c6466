"""The page on JSON names every key that the commands print."""

import json
import re
from typing import Any

from programs import Command
from project import DOCS

PAGE = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
SOLVED = "1 2 3 4 0 5 7 8 6"
COUNTS = ("by_distance", "histogram")
"""Objects whose keys are numbers."""


def keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return {key for item in value for key in keys(item)}
    if not isinstance(value, dict):
        return set()
    inner = {key for name, item in value.items() if name not in ("pieces", *COUNTS) for key in keys(item)}
    return inner | value.keys()


def test_every_key_is_named(cli: Command) -> None:
    commands: list[list[object]] = [
        ["puzzles"],
        ["boards"],
        ["plan", "eight-puzzle"],
        ["run", "eight-puzzle", "--quiet"],
        ["resume", "eight-puzzle", "--quiet"],
        ["status", "eight-puzzle"],
        ["list"],
        ["layers", "eight-puzzle"],
        ["query", "eight-puzzle", "--depth", 31],
        ["farthest", "eight-puzzle"],
        ["query", "eight-puzzle", SOLVED, "--path"],
        ["verify", "eight-puzzle"],
        ["query", "eight-puzzle", "--pattern", "1 2 3 / ? ? ? / ? ? 0", "--path"],
        ["check", "eight-puzzle"],
        ["solve", "eight-puzzle", SOLVED],
        ["run", "hanoi-3-pegs", "--quiet"],
        ["query", "hanoi-3-pegs", "--moves", "0-1 0-2", "--path"],
        ["solve", "hanoi-3-pegs", "--moves", "0-1 0-2"],
        ["solve", "knights-labelled", "--method", "routes", "--limit", 3],
        ["rank", "eight-puzzle", SOLVED],
        ["unrank", "eight-puzzle", 5],
        ["rank", "--permutation", "3 1 2 0"],
        ["tile", "3x20", "--quiet"],
        ["status", "3x20"],
        ["verify", "3x20"],
        ["show", "3x20"],
    ]
    named = set(re.findall(r"`([a-z_]+)`", PAGE))
    for command in commands:
        found = keys(json.loads(cli(*command, "--json").out))
        assert found <= named, (command, found - named)
