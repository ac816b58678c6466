"""What the names of moves mean, against the moves themselves."""

import numpy as np
import pytest
from service_client import Client, fits
from service_stores import TABLES

from antipodes.puzzles.config import load_config
from antipodes.puzzles.net import Net
from antipodes.puzzles.puzzle import Puzzle
from antipodes.service.legend import Legend, legend_view
from antipodes.system.records import as_dict
from antipodes_tasks.base.array_types import Labels

NETS = ("2x2x2-corner", "3x3x3", "pyraminx", "skewb", "ivy")


def walked(puzzle: Puzzle, steps: int) -> Labels:
    """The positions ``(steps, places)`` of a random walk from the start."""
    rng, here, found = np.random.default_rng(1), puzzle.rules.first, []
    for _ in range(steps):
        here = rng.choice(puzzle.successors(here))
        found.append(here)
    return np.array(found)


def letters(puzzle: Puzzle, position: Labels) -> list[str]:
    return [one for one in puzzle.draw(position) if one.isalnum()]


@pytest.mark.parametrize("name", TABLES)
def test_all_names_are_listed(client: Client, name: str) -> None:
    found = client.value(f"/stores/{name}/moves")
    assert fits(found, Legend)
    facts = client.value(f"/stores/{name}")
    assert [one["name"] for one in found["moves"]] == (facts["moves"] or [])
    assert found["count"] == len(found["moves"])


@pytest.mark.parametrize("name", NETS)
def test_a_sticker_has_the_moves_that_change_it(name: str) -> None:
    puzzle = load_config(name).puzzle
    assert isinstance(puzzle.notation, Net)
    stickers = as_dict(legend_view(puzzle))["stickers"]
    start, walk = letters(puzzle, puzzle.rules.first), walked(puzzle, 60)
    changed: dict[int, set[str]] = {number: set() for number in range(len(start))}
    for number, move in enumerate(puzzle.moves.names):
        after, _ = puzzle.moves.move(number, walk)
        for before, now in zip(walk, after, strict=True):
            pairs = zip(letters(puzzle, before), letters(puzzle, now), strict=True)
            for sticker, (old, new) in enumerate(pairs):
                if old != new:
                    changed[sticker].add(move)
    for sticker, names in enumerate(stickers):
        if changed[sticker]:
            assert set(names) == changed[sticker], sticker


def test_the_moves_of_a_face_come_first() -> None:
    for name in ("2x2x2", "3x3x3"):
        puzzle = load_config(name).puzzle
        assert isinstance(puzzle.notation, Net)
        face_of = {letter: face for face, letter in puzzle.notation.faces}
        stickers = zip(letters(puzzle, puzzle.rules.first), as_dict(legend_view(puzzle))["stickers"], strict=True)
        for letter, names in stickers:
            own = [one for one in (face_of[letter] + end for end in ("", "2", "'")) if one in puzzle.moves.names]
            assert names[: len(own)] == own
            if name == "3x3x3":
                assert len(names) in (3, 6, 9)  # a centre, an edge, a corner


def test_meanings_of_turns_and_cycles() -> None:
    meanings = {one["name"]: one["meaning"] for one in as_dict(legend_view(load_config("3x3x3").puzzle))["moves"]}
    expected = ("moves 4 of CORNERS and 4 of EDGES", "R twice", "undoes R")
    assert (meanings["R"], meanings["R2"], meanings["R'"]) == expected
    m12 = {one["name"]: one["meaning"] for one in as_dict(legend_view(load_config("m12").puzzle))["moves"]}
    assert m12["R"] == "(0 11)(1 10)(2 9)(3 8)(4 7)(5 6)"
    assert m12["M'"] == "undoes M"


def test_the_names_of_families_are_explained() -> None:
    for name in ("eight-puzzle", "two-blanks", "klotski", "topspin-11", "hanoi-3-pegs", "lights-out-5x5", "square-1"):
        assert as_dict(legend_view(load_config(name).puzzle))["text"]
    many = as_dict(legend_view(load_config("lights-out-5x5").puzzle))
    assert many["stickers"] is None
