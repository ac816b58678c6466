"""Generators with conditions: a move is legal only where a pattern matches, against loops over tuples."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from brute_force import arrangements, distances, layers
from hypothesis import given
from hypothesis import strategies as st
from table_search import layers_of_space

from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Packing
from antipodes_tasks.spaces.selection import best_space

Position = tuple[str, ...]
Settings = dict[str, Any]


@st.composite
def conditional_settings(draw: st.DrawFn) -> Settings:
    """Two permutations of five pieces, most of them under a condition."""
    pieces = draw(st.permutations("AABCD"))
    permutation = st.permutations(range(5))
    moves = {"R": draw(permutation.filter(lambda one: one != [*range(5)])), "U": draw(permutation)}
    allowed = st.sampled_from(("?", "?", "?", "[AB]", "[^A]", "[CDA]", "B"))
    patterns = {name: " ".join(draw(allowed) for _ in range(5)) for name in draw(st.sampled_from(("R", "RU")))}
    patterns = {name: pattern for name, pattern in patterns.items() if pattern.count("B") - pattern.count("[AB]") < 2}
    turns = draw(st.sampled_from(("half", "quarter", "single")))
    start = " ".join(pieces)
    given = {"name": "p", "family": "generators", "start": start, "moves": moves, "turns": turns}
    return {**given, "conditions": patterns} if patterns else given


def fits(position: Position, pattern: str) -> bool:
    def allowed(symbol: str) -> str:
        listed = symbol.strip("[^]")
        return "".join({*"ABCD"} - {*listed}) if "^" in symbol else "ABCD" if symbol == "?" else listed

    return all(piece in allowed(symbol) for piece, symbol in zip(position, pattern.split(), strict=True))


def successors(position: Position, settings: Settings, every: Iterable[Position]) -> Iterator[Position]:
    """After any number of turns of a move, or before, as the metric says."""
    for name, origin in settings["moves"].items():
        pattern = settings.get("conditions", {}).get(name, "? ? ? ? ?")
        there = {one: tuple(one[i] for i in origin) for one in every if fits(one, pattern)}
        back = {after: before for before, after in there.items()}
        for steps in (there, back)[: 1 if settings["turns"] == "single" else 2]:
            here = position
            for _ in range(6 if settings["turns"] == "half" else 1):
                if here not in steps:
                    break
                here = steps[here]
                yield here


@given(conditional_settings())
def test_distances(settings: Settings) -> None:
    puzzle = puzzle_from(settings)
    every = arrangements(settings["start"].split())
    expected = distances([tuple(settings["start"].split())], lambda one: successors(one, settings, every))
    assert layers_of_space(best_space(puzzle.rules)) == layers(expected)
    packing = Packing.of(puzzle.rules)
    labels = np.array([puzzle.parse(" ".join(one)) for one in expected])
    found = packing.unpack(Expansion(puzzle.rules, packing).successors(packing.pack(labels)))
    after = {one for position in expected for one in successors(position, settings, every)}
    moved = {tuple(puzzle.format(one).split()) for one in found}
    assert after - moved <= set(expected)
    assert moved <= after | set(expected)


def turned(position: Position, settings: Settings, name: str, exponent: int) -> Position | None:
    """The position after single turns of one kind; None if one of them is illegal."""
    origin, pattern = settings["moves"][name], settings.get("conditions", {}).get(name, "? ? ? ? ?")
    for _ in range(abs(exponent)):
        before = position
        position = tuple(before[i] for i in (origin if exponent > 0 else np.argsort(origin)))
        if not fits(before if exponent > 0 else position, pattern):
            return None
    return position


def read_name(name: str) -> tuple[str, int]:
    """The turn that a name of a move stands for, and how often; negative if it is undone."""
    match = re.fullmatch(r"([RU])(\d*)('?)", name)
    assert match is not None, name
    return match[1], int(match[2] or 1) * (-1 if match[3] else 1)


@given(conditional_settings())
def test_moves_do_what_their_names_say_and_no_turn_of_them_is_illegal(settings: Settings) -> None:
    puzzle = puzzle_from(settings)
    every = sorted(arrangements(settings["start"].split()))
    labels = np.array([puzzle.parse(" ".join(one)) for one in every])
    for number, name in enumerate(puzzle.moves.names):
        after, legal = puzzle.moves.move(number, labels)
        expected = [turned(one, settings, *read_name(name)) for one in every]
        found = [tuple(puzzle.format(one).split()) if ok else None for one, ok in zip(after, legal, strict=True)]
        assert found == expected
    shown = puzzle.successors_many(labels)
    for position, there, here in zip(every[::7], shown.positions[::7], shown.legal[::7], strict=True):
        others = {tuple(puzzle.format(one).split()) for one in there[here]} - {position}
        assert others == set(successors(position, settings, every)) - {position}


@given(conditional_settings(), st.sampled_from("RU"), st.integers(-6, 6).filter(bool))
def test_a_sequence_is_accepted_if_each_turn_is_legal(settings: Settings, name: str, exponent: int) -> None:
    puzzle, start = puzzle_from(settings), tuple(settings["start"].split())
    text = f"{name}{abs(exponent)}" + "'" * (exponent < 0)
    expected = turned(start, settings, name, exponent)
    if expected is None:
        undone = "'" * (exponent < 0)
        if f"{name}{abs(exponent)}" in puzzle.moves.names:
            turn, at = f"{name}{abs(exponent)}{undone}", 1
        else:
            sign = 1 if exponent > 0 else -1
            turn = name + undone
            at = next(count for count in range(1, 7) if turned(start, settings, name, sign * count) is None)
        message = f"moves {text!r}: {turn!r} as move {at} is not legal there"
        with pytest.raises(PositionError, match=f"^{re.escape(message)}$"):
            puzzle.follow(text)
    else:
        assert tuple(puzzle.format(puzzle.follow(text)[-1]).split()) == expected


def test_a_move_the_other_way_round_has_a_name_of_its_own() -> None:
    ring = {"name": "p", "family": "generators", "start": "2 1 0 3", "moves": {"L": "(0 1 2 3)"}}
    puzzle = puzzle_from({**ring, "conditions": {"L": "[^2] ? ? ?"}})
    assert puzzle.move_names(puzzle.follow("L3'")) == ["L3'"]
    assert puzzle.format(puzzle.follow("L3'")[-1]) == "3 2 1 0"
    with pytest.raises(PositionError, match="moves 'L': 'L' as move 1 is not legal there"):
        puzzle.follow("L")
    assert puzzle.moves.reversible


def test_names_of_turns_that_equal_an_earlier_one_remain_for_sequences() -> None:
    same = {"name": "p", "family": "generators", "start": "A B C", "moves": {"R": [1, 2, 0], "S": [1, 2, 0]}}
    puzzle = puzzle_from({**same, "conditions": {"S": "A ? ?"}})
    assert {name[0] for name in puzzle.moves.names} == {"R"}
    assert puzzle.format(puzzle.follow("S")[-1]) == "B C A"
    with pytest.raises(PositionError, match="moves 'S S': 'S' as move 2 is not legal there"):
        puzzle.follow("S S")


ROW = {"name": "p", "family": "generators", "start": "A A B", "moves": {"R": [1, 2, 0]}}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"conditions": "? ? ?"}, "conditions: expected a table of patterns by move, found '\\? \\? \\?'"),
    ({"conditions": {"R": 3}}, "conditions: expected a table of patterns by move"),
    ({"conditions": {"X": "? ? ?"}}, r"\[puzzle\] conditions: expected one of the moves R, found 'X'"),
    ({"conditions": {"R": "? ?"}}, "conditions.R: pattern .*: expected 3 squares, found 2"),
    ({"conditions": {"R": "C ? ?"}}, "conditions.R: pattern .*: expected one of A B, found 'C'"),
    (
        {"conditions": {"R": "{AB} ?"}},
        r"\[puzzle\] conditions\.R: pieces in any order, \{\.\.\.\}, are not possible here; give the piece on",
    ),
    (
        {"conditions": {"R": "[^AB] ? ?"}},
        r"\[puzzle\] conditions\.R: pattern '\[\^AB\] \? \?': '\[\^AB\]' excludes every piece",
    ),
    (
        {"start": " ".join(map(str, range(65))), "moves": {"R": "(0 1)"}, "conditions": {"R": "?" * 65}},
        "conditions: expected at most 64 different pieces, found 65",
    ),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_wrong_conditions_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        puzzle_from({**ROW, **changes})


def test_large_puzzles_are_searched_without_a_numbering() -> None:
    wide = {"name": "p", "family": "generators", "n": 20, "moves": {"R": "(0 1 2 3 4)", "L": "(4 5 6 7 8)"}}
    blocked = puzzle_from({**wide, "conditions": {"R": "? ? ? ? [^19]" + " ?" * 15}})
    assert blocked.rules.enumerated
    assert not puzzle_from(wide).rules.enumerated
