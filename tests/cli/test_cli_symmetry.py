import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command
from stores import toml

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


@pytest.mark.slow
def test_counts_alone_have_no_classes_by_depth(cli: Command, refused: Callable[..., str]) -> None:
    assert cli("run", "lights-out-5x5", "--counts-only", "--quiet", "--store", "c.zarr").status == 0
    message = refused("layers", "c.zarr", "--unique")
    assert "c.zarr does not count positions up to symmetry; compute the table, or the counts with --unique" in message
    again = refused("run", "lights-out-5x5", "--counts-only", "--unique", "--store", "c.zarr")
    assert "c.zarr does not count positions up to symmetry: choose another --store, or overwrite it with: " in again
    assert "--unique needs --counts-only; of a table, antipodes layers" in refused("run", "lights-out-5x5", "--unique")
    message = refused("farthest", "c.zarr", "--unique")
    assert "only the first 1,000 of 7,350 antipodes" in message


def test_a_file_may_ask_for_classes_in_case_that_a_run_only_counts(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(toml({"name": "x", "family": "hanoi", "pegs": 4, "discs": 4}, {"unique": True}))
    table = json.loads(cli("run", "x.toml", "--json").out)
    counts = json.loads(cli("run", "x.toml", "--counts-only", "--json").out)
    assert "unique" not in table
    assert counts["unique"] == json.loads(cli("layers", "x", "--unique", "--json").out)["unique"]
    assert (
        f"up to symmetry {sum(counts['unique'])} positions; at each depth: "
        in cli("run", "x.toml", "--counts-only").out
    )


def test_counts_alone_have_classes_of_antipodes_if_they_are_all_there(cli: Command, finished: Path) -> None:
    assert cli("run", "eight-puzzle", "--counts-only", "--quiet", "--store", "c.zarr").status == 0
    by_counts, by_table = (cli("farthest", store, "--unique", "--json").out for store in ("c.zarr", finished))
    assert json.loads(by_counts) == json.loads(by_table)


def test_the_symmetries_of_a_board_have_names(cli: Command) -> None:
    shown = json.loads(cli("symmetry", "knights-coloured", "--json").out)
    names = ["identity", "reflection left to right", "reflection top to bottom", "rotation by 180°"]
    assert (shown["order"], [one["name"] for one in shown["symmetries"]]) == (4, names)
    assert shown["symmetries"][3]["places"] == list(range(11, -1, -1))
    lines = cli("symmetry", "knights-coloured").out.splitlines()
    assert lines[1] == "  symmetry                  effect, as cycles of places numbered from 0"
    assert lines[3] == "  reflection left to right  places (0 2)(3 5)(6 8)(9 11)"


def test_all_symmetries_of_a_square_have_names(cli: Command) -> None:
    shown = json.loads(cli("symmetry", "lights-out-5x5", "--json").out)
    names = sorted(one["name"].partition(" ")[0] for one in shown["symmetries"])
    assert names == ["identity", *["reflection"] * 4, *["rotation"] * 3]


@pytest.mark.parametrize("name", ["2x2x2", "skewb"])
def test_the_symmetries_of_a_cube_are_rotations_and_reflections(cli: Command, name: str) -> None:
    shown = json.loads(cli("symmetry", name, "--json").out)
    names = Counter(one["name"] for one in shown["symmetries"])
    rotations = {"identity": 1, "rotation by 90°": 6, "rotation by 180°": 9, "rotation by 120°": 8}
    turned = {"rotation and reflection of order 4": 6, "rotation and reflection of order 6": 8}
    assert names == {**rotations, "reflection": 9, "point reflection": 1, **turned}
    (inversion,) = (one for one in shown["symmetries"] if one["name"] == "point reflection")
    assert inversion["moves"][0] == {"2x2x2": "D'", "skewb": "DBL'"}[name]
    for one in shown["symmetries"]:
        is_rotation = one["name"] == "identity" or one["name"].startswith("rotation by")
        assert one["moves"][0].endswith("'") != is_rotation
    assert len(shown["generators"]) <= 5


def test_puzzles_without_a_centre_have_no_point_reflection(cli: Command) -> None:
    for name, reflections in (("pyraminx", 6), ("2x2x3", 2)):
        names = Counter(one["name"] for one in json.loads(cli("symmetry", name, "--json").out)["symmetries"])
        assert (names["reflection"], names["point reflection"]) == (reflections, 0)


def test_moves_without_names_and_many_symmetries(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "pegs.toml").write_text('[puzzle]\nname = "p"\nfamily = "hanoi"\npegs = 7\ndiscs = 2\n')
    lines = cli("symmetry", "pegs.toml").out.splitlines()
    assert lines[:2] == ["720 symmetries of p", "products of:"]
    assert lines[2].strip() == "effect, as cycles of places numbered from 0"
    assert all(line.startswith("  ") and "places stay, " in line for line in lines[3:])
    assert len(json.loads(cli("symmetry", "pegs.toml", "--json").out)["symmetries"]) == 720


def test_the_symmetries_of_a_position(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("symmetry", finished, "1 2 3 / 4 5 6 / 7 0 8", "--json").out)
    assert (shown["order"], shown["images"]) == (1, ["1 2 3 4 5 6 7 0 8", "1 2 3 4 5 0 7 8 6"])
    assert json.loads(cli("symmetry", finished, "--moves", "R D L U", "--json").out)["order"] == 1
    assert "2 of 2 symmetries leave it unchanged" in cli("symmetry", "eight-puzzle", "1 2 3 4 5 6 7 8 0").out


def test_positions_with_a_symmetry_by_depth(cli: Command, finished: Path) -> None:
    identity, mirror = json.loads(cli("symmetry", finished, "--depths", "--json").out)["classes"]
    layers, unique = (
        json.loads(cli("layers", finished, "--unique", "--json").out)[key] for key in ("layers", "unique")
    )
    assert (identity["layers"], mirror["count"]) == (layers, 1)
    assert [(one + other) // 2 for one, other in zip(layers, mirror["layers"], strict=True)] == unique
    assert cli("symmetry", finished, "--depths").out.splitlines()[2].startswith("1 x reflection in the diagonal")


def test_what_has_no_symmetries_to_find(refused: Callable[..., str], tmp_path: Path) -> None:
    moves = "{'up': lambda x: (x + 1) % 5}"
    source = f"import antipodes as ap\ndial = ap.define_puzzle(name='dial', radices=[5], start=[0], moves={moves})\n"
    (tmp_path / "dials.py").write_text(source)
    assert "the moves of dial are functions, so its symmetries are unknown; define it with symmetries=" in refused(
        "symmetry", "dials.py:dial"
    )
