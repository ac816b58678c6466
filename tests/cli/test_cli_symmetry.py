import json
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command

UNIQUE = [1, 1, 2, 4, 8, 10]
"""The first layers of the eight-puzzle up to the reflection in the diagonal through the blank."""


def test_layers_up_to_symmetry(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("layers", finished, "--unique", "--json").out)
    assert shown["unique"][: len(UNIQUE)] == UNIQUE
    assert all(
        -(-count // 2) <= unique <= count for count, unique in zip(shown["layers"], shown["unique"], strict=True)
    )
    lines = cli("layers", finished, "--unique").out.splitlines()
    assert lines[0].split() == ["depth", "positions", "unique"]
    assert [int(line.split()[2].replace(",", "")) for line in lines[1:]] == shown["unique"]
    rows = cli("layers", finished, "--unique", "--csv").out.splitlines()
    assert rows[0] == "depth,positions,unique"
    assert [int(row.split(",")[2]) for row in rows[1:]] == shown["unique"]


def test_one_antipode_of_each_class(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("farthest", finished, "--unique", "--json").out)
    assert (shown["count"], shown["unique"], len(shown["positions"]), shown["symmetries"]) == (2, 1, 1, [1])
    lines = cli("farthest", finished, "--unique").out.splitlines()
    assert lines[-2:] == [f"{shown['positions'][0]}  (1 symmetry)", "1 class, 1 shown"]


@pytest.mark.parametrize("command", ["layers", "farthest"])
def test_counts_alone_have_no_classes(command: str, cli: Command, refused: Callable[..., str]) -> None:
    assert cli("run", "hanoi-3-pegs", "--counts-only", "--quiet", "--store", "c.zarr").status == 0
    assert "--unique: expected a table, found counts alone in" in refused(command, "c.zarr", "--unique")
