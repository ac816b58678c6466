"""Datasets in Parquet files: their rows against the table, splits by symmetry class, the card, and bad input."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import yaml
from programs import Command
from stores import flip_bit

import antipodes as ap
from antipodes.bridges.dataset_card import fenced, front_matter

SLIDING = r"""
[puzzle]
name = "null"
family = "sliding"
rows = 2
columns = 3
start = "1 2 3 4 5 0"
description = "```\n---\nlicense: x"
"""
LIGHTS = '[puzzle]\nname = "lights"\nfamily = "lights-out"\nrows = 3\ncolumns = 3\n'


def rows_of(folder: Path, split: str) -> dict[str, list[Any]]:
    """The columns of a split, from all of its files."""
    files = sorted((folder / "data").glob(f"{split}-*.parquet"))
    rows: dict[str, list[Any]] = pyarrow.concat_tables(map(pyarrow.parquet.read_table, files)).to_pydict()
    return rows


@pytest.fixture
def table_of(cli: Command) -> Callable[[str], ap.Table]:
    """Makes and opens the table of a puzzle, in the store ``a.zarr``."""

    def table(definition: str) -> ap.Table:
        Path("a.toml").write_text(definition, encoding="utf-8")
        assert cli("run", "a.toml", "--store", "a.zarr", "--quiet").status == 0
        return ap.open_table("a.zarr")

    return table


def test_rows_and_card(cli: Command, table_of: Callable[[str], ap.Table], tmp_path: Path) -> None:
    table = table_of(SLIDING)
    assert cli("export", "a.zarr", "out", "--parquet", "--rows-per-file", 100).status == 0
    files = {path.name: pyarrow.parquet.read_metadata(path).num_rows for path in (tmp_path / "out" / "data").iterdir()}
    train, test = rows_of(tmp_path / "out", "train"), rows_of(tmp_path / "out", "test")
    assert max(files.values()) == 100
    assert [files[f"train-0000{number}.parquet"] for number in range(3)] == [100, 100, 100]
    rows = {name: values + test[name] for name, values in train.items()}
    labels = table.puzzle.positions(rows["position"])
    assert len(set(rows["position"])) == len(table) == 360
    assert np.array_equal(labels, rows["labels"])
    assert rows["distance"] == table.distances(labels).tolist()
    assert rows["best_moves"] == table.best_moves(labels).by_position()
    assert rows["index"] == table.space.rank(labels).tolist()
    front, _, card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")[4:].partition("\n---\n")
    assert yaml.safe_load(front)["pretty_name"] == "Exact distances: null"
    assert yaml.safe_load(front)["license"] == "mit"
    assert "All 360 positions" in card
    assert "antipodes export STORE FOLDER --parquet\n" in card
    assert ap.load_puzzle(str(tmp_path / "out" / "definition.toml")).fingerprint == table.puzzle.fingerprint


def test_images_are_in_the_same_split(table_of: Callable[[str], ap.Table], tmp_path: Path) -> None:
    table = table_of(LIGHTS)
    group = ap.symmetries(table.puzzle)
    assert group.order == 8
    ap.bridges.parquet.export("a.zarr", tmp_path / "all")
    train, test = rows_of(tmp_path / "all", "train"), rows_of(tmp_path / "all", "test")
    assert (len(train["index"]), len(set(train["index"] + test["index"]))) == (512 - len(test["index"]), 512)
    assert 20 < len(test["index"]) < 100
    for position, size in zip(test["labels"], test["class_size"], strict=True):
        images = group.images(position)
        assert len(images) == size
        assert set(table.space.rank(images)) <= set(test["index"])
    ap.bridges.parquet.export("a.zarr", tmp_path / "some", sample=100, seed=1)
    assert set(rows_of(tmp_path / "some", "test")["index"]) < set(test["index"])


def test_a_sample_is_repeatable(cli: Command, finished: Path) -> None:
    for folder in ("one", "two"):
        assert cli("export", finished, folder, "--parquet", "--sample", 50, "--seed", 7).status == 0
    one, two = ({path.name: path.read_bytes() for path in Path(name).rglob("*.*")} for name in ("one", "two"))
    assert one == two
    assert b"--parquet --sample 50 --seed 7\n" in one["README.md"]
    assert sum(len(rows_of(Path("one"), split)["index"]) for split in ("train", "test")) == 50


def test_bad_input(refused: Callable[..., str], cli: Command, finished: Path, unfinished: Path) -> None:
    Path("there").mkdir()
    Path("dial.toml").write_text('[puzzle]\nname = "dial"\nfamily = "pancake"\nn = 3\n', encoding="utf-8")
    assert cli("run", "dial.toml", "--counts-only", "--store", "c.zarr", "--quiet").status == 0
    before = sorted(os.listdir())
    assert "there exists already" in refused("export", finished, "there", "--parquet")
    assert "is unfinished; resume with" in refused("export", unfinished, "out", "--parquet", status=1)
    assert "c.zarr is not a table" in refused("export", "c.zarr", "out", "--parquet")
    more = refused("export", finished, "out", "--parquet", "--sample", 181_441)
    assert "--sample: the table has only 181,440 positions" in more
    assert "--seed" in refused("export", finished, "out", "--parquet", "--sample", 3, "--seed", -1)
    assert "--sample can only be used with --parquet" in refused("export", finished, "out", "--sample", 3)
    assert "--unique" in refused("export", finished, "out", "--parquet", "--unique")
    assert sorted(os.listdir()) == before


def test_nothing_remains_of_a_corrupt_table(refused: Callable[..., str], eight: Path) -> None:
    flip_bit(
        next(path for path in sorted((eight / "depth").rglob("*")) if path.is_file() and path.name != "zarr.json"), 999
    )
    assert "is corrupt" in refused("export", eight, "out", "--parquet", status=1)
    assert os.listdir() == ["eight.zarr"]


def test_without_pyarrow(refused: Callable[..., str], finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "--parquet needs pyarrow: pip install '.[parquet]'" in refused("export", finished, "out", "--parquet")


@pytest.mark.parametrize("name", ['x"\nlicense: evil', "\x85---\u2028", "# {[*&!|>%@", "true"])
def test_hostile_names_stay_in_their_places(name: str) -> None:
    front = yaml.safe_load("\n".join(front_matter(name, {"train": 1})).split("---\n")[1])
    assert (front["pretty_name"], front["license"]) == (f"Exact distances: {name}", "mit")
    first, *_, last, _ = fenced("toml", "a\n````\nb")
    assert first == last + "toml" == "`````toml"


@pytest.mark.slow
@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb", "datasets"])
def test_other_libraries_read_the_files(library: str, finished: Path, tmp_path: Path) -> None:
    """Only pandas is installed for `make test`; see `make test-bridges`."""
    read = pytest.importorskip(library)
    folder = tmp_path / "out"
    ap.bridges.parquet.export(finished, folder, sample=1000, seed=1)
    pattern = str(folder / "data" / "train-*.parquet")
    if library == "datasets":
        loaded = read.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
        assert set(loaded) == {"train", "test"}
        distances = loaded["train"]["distance"]
    elif library == "duckdb":
        distances = [row[0] for row in read.sql(f"SELECT distance FROM '{pattern}'").fetchall()]
    else:
        distances = read.read_parquet(pattern if library == "polars" else folder / "data" / "train-00000.parquet")[
            "distance"
        ]
    assert list(distances) == rows_of(folder, "train")["distance"]
