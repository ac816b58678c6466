"""Exported results: what the files say, their schema, and that the definition among them is the whole definition."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles import ORACLES
from programs import Command
from project import DOCS

import antipodes as ap
from antipodes.puzzles.config import load_config
from antipodes.storage.backend import MANIFEST
from antipodes.storage.manifest_file import digest
from antipodes_tasks.base.errors import InputError, UnfinishedError

ORACLE = ORACLES["sliding/eight-puzzle"]
SCHEMA = json.loads((DOCS / "schemas" / "results.json").read_text(encoding="utf-8"))


def values(folder: Path) -> dict[str, Any]:
    """The results, which fit the schema."""
    import jsonschema

    found: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, SCHEMA)
    return found


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_table(finished: Path, tmp_path: Path) -> None:
    ap.export(finished, tmp_path / "new" / "results")
    folder = tmp_path / "new" / "results"
    found = values(folder)
    assert (found["kind"], found["positions"], found["radius"]) == ("table", 181_440, 31)
    assert found["layers"] == ORACLE["layers"]
    assert found["antipodes"] == {"count": 2, "positions": ["6 4 7 8 5 0 3 2 1", "8 6 7 2 5 4 3 0 1"]}
    assert found["store"]["manifest_sha256"] == digest((finished / MANIFEST).read_bytes())
    assert found["recompute"][-1] == "antipodes run eight-puzzle"
    counted = [[str(depth), str(count)] for depth, count in enumerate(ORACLE["layers"])]
    assert rows(folder / "layers.csv") == [["depth", "positions"], *counted]
    assert [line.split() for line in (folder / "b-file.txt").read_text().splitlines()] == counted
    assert rows(folder / "antipodes.csv")[1:] == [[one] for one in found["antipodes"]["positions"]]
    assert load_config(str(folder / "definition.toml")).puzzle.fingerprint == found["fingerprint"]


def test_few_of_many_antipodes(finished: Path, tmp_path: Path) -> None:
    ap.export(finished, tmp_path, limit=1)
    assert values(tmp_path)["antipodes"] == {"count": 2, "positions": ["6 4 7 8 5 0 3 2 1"]}


def test_up_to_symmetry(cli: Command, tmp_path: Path) -> None:
    """Layers and antipodes by the commands that count them otherwise."""
    assert cli("run", "knights-coloured", "--quiet").status == 0
    assert cli("export", "knights-coloured", "out", "--unique").status == 0
    found = values(tmp_path / "out")
    counted = json.loads(cli("layers", "knights-coloured", "--unique", "--json").out)
    farthest = json.loads(cli("farthest", "knights-coloured", "--unique", "--json").out)
    assert (found["layers"], found["unique_layers"]) == (counted["layers"], counted["unique"])
    assert found["antipodes"] == {name: farthest[name] for name in ("count", "positions", "symmetries")}
    head, *lines = rows(tmp_path / "out" / "layers.csv")
    assert head == ["depth", "positions", "unique"]
    assert [int(line[2]) for line in lines] == found["unique_layers"]
    assert rows(tmp_path / "out" / "antipodes.csv")[0] == ["positions", "symmetries"]


def test_counts_of_a_puzzle_of_ones_own_are_recomputed_from_the_files(cli: Command, tmp_path: Path) -> None:
    Path("dial.toml").write_text('[puzzle]\nname = "dial"\nfamily = "pancake"\nn = 5\n', encoding="utf-8")
    assert cli("run", "dial.toml", "--counts-only", "--store", "a.zarr", "--quiet").status == 0
    assert cli("export", "a.zarr", "out").status == 0
    found = values(tmp_path / "out")
    assert (found["kind"], found["layers"]) == ("counts", [1, 4, 12, 35, 48, 20])
    assert found["recompute"][-1] == "antipodes run definition.toml --counts-only"
    assert cli("run", "out/definition.toml", "--counts-only", "--store", "b.zarr", "--quiet").status == 0
    assert cli("export", "b.zarr", "again").status == 0
    assert values(tmp_path / "again") == found


DIAL = """
from antipodes import define_puzzle

dial = define_puzzle(name="dial", radices=[5], start=[0], moves={"up": lambda x: (x + 1) % 5})
"""


def test_no_local_path_of_a_puzzle_in_python_is_published(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "dials.py").write_text(DIAL, encoding="utf-8")
    assert cli("run", "dials.py:dial", "--store", "a.zarr", "--quiet").status == 0
    assert cli("export", "a.zarr", "out").status == 0
    assert cli("report", "a.zarr", "--output", "page.html").status == 0
    found = values(tmp_path / "out")
    assert found["definition"]["source"] == "dials.py:dial"
    assert found["recompute"][-1] == "antipodes run dials.py:dial"
    for file in (*(tmp_path / "out").iterdir(), tmp_path / "page.html"):
        text = file.read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        assert "dials.py:dial" in text or file.suffix in (".csv", ".txt")


def test_tilings(cli: Command, tmp_path: Path) -> None:
    assert cli("tile", "3x20", "--quiet").status == 0
    shown = json.loads(cli("export", "3x20", "out", "--json").out)
    assert shown["files"] == ["results.json", "definition.toml", "tilings.csv"]
    found = values(tmp_path / "out")
    assert (found["tilings"], found["raw_tilings"], found["listed"]) == (2, 8, 2)
    first, second = (tiling.split("/") for _, tiling in rows(tmp_path / "out" / "tilings.csv")[1:])
    assert {len(row) for row in first + second} == {20}
    assert first != second


def test_unfinished_stores_are_refused(unfinished: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UnfinishedError, match=rf"{unfinished} is unfinished; resume with: antipodes resume {unfinished}"
    ):
        ap.export(unfinished, tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_folder_that_is_a_file(refused: Callable[..., str], finished: Path) -> None:
    Path("file").touch()
    assert "cannot write file: " in refused("export", finished, "file", status=1)


def test_no_antipodes_at_all_are_no_limit(refused: Callable[..., str], finished: Path, tmp_path: Path) -> None:
    assert "--limit" in refused("export", finished, "out", "--limit", 0)
    with pytest.raises(InputError, match="expected a limit of at least 1, found 0"):
        ap.export(finished, "out", limit=0)
    assert not (tmp_path / "out").exists()
