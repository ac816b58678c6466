"""The page on JSON names every key that the commands print."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from programs import Command
from project import DOCS

PAGE = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
SOLVED = "1 2 3 4 0 5 7 8 6"


def keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return {key for item in value for key in keys(item)}
    if not isinstance(value, dict):
        return set()
    return {key for name, item in value.items() for key in {name, *(set() if name == "pieces" else keys(item))}}


def test_every_key_is_named(cli: Command) -> None:
    commands: list[list[object]] = [
        ["puzzles"],
        ["boards"],
        ["plan", "eight-puzzle"],
        ["run", "eight-puzzle", "--quiet"],
        ["resume", "eight-puzzle", "--quiet"],
        ["status", "eight-puzzle"],
        ["layers", "eight-puzzle"],
        ["farthest", "eight-puzzle"],
        ["query", "eight-puzzle", SOLVED, "--path"],
        ["verify", "eight-puzzle"],
        ["solve", "eight-puzzle", SOLVED],
        ["rank", "eight-puzzle", SOLVED],
        ["unrank", "eight-puzzle", 5],
        ["tile", "3x20", "--quiet"],
        ["status", "3x20"],
        ["verify", "3x20"],
        ["show", "3x20"],
    ]
    named = set(re.findall(r"`([a-z_]+)`", PAGE))
    for command in commands:
        found = keys(json.loads(cli(*command, "--json").out))
        assert found <= named, (command, found - named)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8")):
        assert link.startswith("http") or (page.parent / link).exists(), link
