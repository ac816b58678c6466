"""The check of the 3-colour cube by its stickers, near the start, and the published antipodes."""

import csv
from pathlib import Path

import numpy as np
import pytest
from programs import Command
from project import DOCS

import antipodes as ap
from benchmarks.three_colour_cube import Cube, Notation, common, drawn, packed, unpacked

FOLDER = DOCS / "explanation" / "large-runs"
EQUAL = ["CORNERS:1,4,6,7", "CORNERS:2,3,5,8", "EDGES:1,4,9,12", "EDGES:2,3,10,11", "EDGES:5,6,7,8"]


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_layers_and_meetings() -> None:
    cube = Cube()
    layers = cube.layers(cube.start, 4)
    published = [row for row in rows("layers.csv") if row["puzzle"] == "three-colour-cube"]
    assert [len(layer) for layer in layers] == [int(row["positions"]) for row in published[:5]]
    classes = [int(row["unique"]) for row in published]
    assert [cube.classes(layer) for layer in layers] == classes[:5]
    assert 48 * sum(classes) == 10_863_756_288_000 + 144_161_856  # Burnside's lemma
    assert classes[-1] == len(rows("three-colour-cube-antipodes.csv"))
    assert np.array_equal(packed(unpacked(layers[4])), layers[4])
    (there,) = unpacked(layers[2][:1])
    around = cube.layers(there, 2)
    assert (common(around[1], layers[1]) > 0, common(around[2], layers[0])) == (True, 1)


@pytest.mark.slow
def test_antipodes_are_written_and_drawn(cli: Command, tmp_path: Path) -> None:
    config = cli("abstract", "3x3x3", *(word for pieces in EQUAL for word in ("--equal", pieces))).out
    (tmp_path / "cube.toml").write_text(config)
    antipodes = rows("three-colour-cube-antipodes.csv")
    assert sum(48 // int(row["symmetries"]) for row in antipodes) == 4022
    cube = Cube()
    notation = Notation(cube, ap.load_puzzle(tmp_path / "cube.toml"))
    assert np.array_equal(notation.stickers(notation.puzzle.format(notation.puzzle.starts[0])), cube.start)
    positions = [row["positions"] for row in sorted(antipodes, key=lambda row: -int(row["symmetries"]))]
    assert drawn(cube, notation, positions) == (FOLDER / "three-colour-cube-antipodes.svg").read_text()
