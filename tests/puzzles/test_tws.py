"""The format of twsearch: its conventions, and each refusal with its line."""

import brute_force
import pytest
from brute_force import distances
from hypothesis import given
from hypothesis import strategies as st
from table_search import layers_of_space
from twisty_geometry import pyraminx
from twisty_search import layers

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.formats.definition import Orbit, TwistyDefinition, expand
from antipodes.puzzles.formats.tws import read_tws
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.spaces.selection import best_space

HEAD = "Name Small\nSet CORNER 4 3\nSet EDGE 3 2\nSolved\nCORNER\n1 2 3 4\n0 1 2 0\nEDGE\n1 1 2\nEnd\n"
MOVE = "Move R\nCORNER\n2 3 1 4\n1 0 0 2\nEnd\n"


def read(text: str) -> TwistyDefinition:
    return read_tws(HEAD + text)


def test_orbits() -> None:
    found = read(MOVE)
    assert found.name == "Small"
    assert found.orbits == (
        Orbit("CORNER", (0, 1, 2, 3), 3, (0, 1, 2, 0)),
        Orbit("EDGE", (0, 0, 1), 2, (0, 0, 0)),
    )
    assert found.others == {}


def test_twists_of_a_move_belong_to_pieces() -> None:
    """The piece on the first place gets the twist 1 wherever it goes, which is the third place."""
    turn = read(MOVE).turns["R"]
    assert turn.permutations == ((1, 2, 0, 3), (0, 1, 2))
    assert turn.twists == ((0, 0, 1, 2), (0, 0, 0))
    assert turn.orientations == (3, 2)


def test_twists_of_a_transformation_belong_to_places() -> None:
    turn = read("MoveTransformation R\nCORNER\n1 2 0 3\n0 0 1 2\nEnd\n").turns["R"]
    assert turn == read(MOVE).turns["R"]


def test_a_start_state_counts_from_nought() -> None:
    text = HEAD.replace("Solved", "StartState").replace("1 2 3 4", "0 1 2 3").replace("1 1 2", "0 0 1")
    assert read_tws(text + MOVE) == read(MOVE)


def test_sets_left_out() -> None:
    text = "Set A 3 1\nSet B 2 5\nSolved\nEnd\nMove M\nA\n2 1 3\nEnd\n"
    found = read_tws(text)
    assert found.name == ""
    assert found.orbits == (Orbit("A", (0, 1, 2), 1, (0, 0, 0)), Orbit("B", (0, 1), 5, (0, 0)))
    assert found.turns["M"].permutations == ((1, 0, 2), (0, 1))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blanks_comments_and_line_ends(end: str) -> None:
    text = ("# a comment\n\n" + HEAD + "  \n#\n" + MOVE).replace("0 1 2 0", " 0\t1 2  0 ")
    assert read_tws("\ufeff" + text.replace("\n", end)) == read(MOVE)


def test_numbers_of_pieces_may_have_gaps() -> None:
    text = HEAD.replace("1 1 2", "7 7 900")
    assert read_tws(text + MOVE).orbits == read(MOVE).orbits


def test_rotations_aliases_and_sequences() -> None:
    rotations = "Move y\nEnd\nMove RUv\nEnd\nMove Rv2\nEnd\n"
    found = read(MOVE + rotations + "MoveAlias Q R'\nMoveSequence S R L2 Q\nMoveSequence z S\nMove L\nEnd\n")
    assert list(found.turns) == ["R", "Rv2", "S", "L"], "the moves of a search, in the order of the file"
    assert list(found.others) == ["y", "RUv", "Q", "z"]
    assert found.others["Q"] == found.turns["R"].inverse()
    assert found.turns["S"].order == 1


def test_a_sequence_may_name_what_follows() -> None:
    found = read("MoveSequence S [R: T]\nMoveAlias T R2\n" + MOVE)
    assert list(found.turns) == ["S", "R"]
    assert found.turns["S"] == found.turns["R"].power(2)


def test_a_puzzle_of_sequences_alone() -> None:
    text = "Move x\nEDGE\n2 3 1\nEnd\nMoveSequence T x2\n"
    assert list(expand(read(text).turns)) == ["T", "T'"]


def test_no_move_brings_illegal_pieces_to_a_place() -> None:
    lines = "Illegal CORNER 2 1 4\nIllegal CORNER 2 3\nIllegal EDGE 3 1\n"
    assert read(MOVE + lines).illegal == {(0, 1): frozenset({0, 2, 3}), (1, 2): frozenset({0})}


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1]), max_size=8))
def test_positions_reached_without_illegal_pieces_by_brute_force(illegal: set[tuple[int, int]]) -> None:
    turns = {"A": (1, 2, 0, 3, 4), "B": (0, 1, 3, 4, 2)}
    text = "Set P 5 2\nSolved\nP\n1 2 3 4 5\nEnd\n"
    text += "".join(f"Move {name}\nP\n{' '.join(str(p + 1) for p in turn)}\nEnd\n" for name, turn in turns.items())
    text += "".join(f"Illegal P {place + 1} {piece + 1}\n" for place, piece in illegal)
    puzzle = puzzle_from({"name": "bandaged", "family": "twisty", "format": "tws", "definition": text})

    def after(position: tuple[int, ...]) -> list[tuple[int, ...]]:
        back = [tuple(turn.index(i) for i in range(5)) for turn in turns.values()]
        moved = [tuple(position[p] for p in turn) for turn in [*turns.values(), *back]]
        return [one for one in moved if not any(one[place] == piece for place, piece in illegal)]

    assert puzzle.moves.reversible
    assert layers_of_space(best_space(puzzle.rules)) == brute_force.layers(distances([(0, 1, 2, 3, 4)], after))


def test_large_bandaged_puzzles_are_listed() -> None:
    turns = {"A": "2 3 4 1 5 6 7 8 9 10 11 12", "B": "1 2 3 5 6 7 4 8 9 10 11 12"}
    moves = "".join(f"Move {name}\nP\n{turn}\nEnd\n" for name, turn in turns.items())
    text = f"Set P 12 1\nSolved\nEnd\n{moves}Illegal P 5 1 2 3\n"
    puzzle = puzzle_from({"name": "bandaged", "family": "twisty", "format": "tws", "definition": text})
    assert puzzle.rules.enumerated
    assert 1 < best_space(puzzle.rules).size < 5040


ROTATIONS_ALONE = "end of the file: the file needs at least one Move that is not a rotation of the whole puzzle"
ILLEGAL_FORM = "Illegal: expected 'Illegal SET PLACE PIECE...' with a set of CORNER, EDGE"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: end of the file: Solved or StartState is missing"),
        ("Set A 2 1\nSolved\nEnd\n", f"line 4: {ROTATIONS_ALONE}"),
        ("Set A 2 1\nSolved\nEnd\nMove y\nEnd\n", f"line 6: {ROTATIONS_ALONE}"),
        ("Name\n", "line 1: expected 'Name WORD', found 'Name'"),
        ("Name a\nName b\n", "line 2: Name: must occur once, before all other lines"),
        ("Set A 2\n", "line 1: expected 'Set NAME PIECES ORIENTATIONS', found 'Set A 2'"),
        ("Set A 0 1\n", "line 1: Set: pieces: expected a number from 1 to 1024, found '0'"),
        ("Set A 2 300\n", "line 1: Set: orientations: expected a number from 1 to 256, found '300'"),
        ("Set A 1000 1\nSet B 1000 1\n", "line 2: Set: expected at most 1024 places in all, found 2,000"),
        ("Set A 2 1\nSet A 2 1\n", "line 2: Set: the name 'A' is already used"),
        ("Set 2A 2 1\n", "line 1: Set: expected a name that begins with a letter, found '2A'"),
        ("Set End 2 1\n", "line 1: Set: expected a name that begins with a letter, found 'End'"),
        ("Solved\nEnd\n", "line 1: Solved: must occur once, after the sets"),
        ("Set A 2 1\nMove R\nEnd\n", "line 2: Move: must come after the solved position"),
        ("Set A 2 1\nSolved\n", r"line 3: end of the file: the End of Solved \(line 2\) is missing"),
        ("Set A 2 1\nSolved\nA\n", "line 3: A: expected 2 numbers on the next line, found the end of the file"),
        ("Set A 2 1\nSolved\nA\nEnd\n", "line 3: A: expected 2 numbers on the next line, found 'End'"),
        ("Set A 2 1\nSolved\nA\n1 2 3\nEnd\n", "line 4: expected 2 numbers, found 3"),
        ("Set A 2 1\nSolved\nA\n0 1\nEnd\n", "line 4: expected a number from 1 to 1024, found '0'"),
        ("Set A 2 2\nSolved\nA\n1 2\n0 2\nEnd\n", "line 5: expected a number from 0 to 1, found '2'"),
        ("Set A 2 2\nSolved\nA\n1 2\n0 1\n0 0\nEnd\n", "line 6: expected End; found '0 0'"),
        ("Set A 2 1\nSolved\nB\n1 2\nEnd\n", "line 3: expected End, A; found 'B'"),
        ("Set A 2 1\nSolved\nEnd\nSet B 2 1\n", "line 4: Set: must come before the solved position"),
        ("Set A 300 1\nSolved\nEnd\n", "line 2: Solved: expected at most 256 different pieces, found 300"),
        ("SwizzleSet A B\n", "line 1: SwizzleSet: expected Name, Set, .*; 'SwizzleSet A B' is not supported"),
        ("# x\n\nBlock 1 2\n", "line 3: Block: expected Name, .* is not supported"),
    ],
)
def test_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        read_tws(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Move\nEnd\n", "line 11: expected 'Move NAME', found 'Move'"),
        ("Move R\nEDGE\n1 2 2\nEnd\n", "line 13: expected each place once, found 2 twice"),
        ("Move R\nEDGE\n0 1 2\nEnd\n", "line 13: expected a number from 1 to 3, found '0'"),
        ("Move R\nEDGE\n2 1 3\n? 0 0\nEnd\n", r"line 14: expected a number from 0 to 1, found '\?'"),
        ("Move R\nEnd\nMove R\nEnd\n", "line 13: Move: the name 'R' is already used"),
        ("Move R\nEnd now\n", "line 12: expected 'End', found 'End now'"),
        ("MoveAlias R\n", "line 11: expected 'MoveAlias NEW OLD', found 'MoveAlias R'"),
        ("MoveSequence R\n", r"line 11: expected 'MoveSequence NAME MOVE...', found 'MoveSequence R'"),
        ("Move R\nEnd\nMoveAlias S T\n", "line 13: MoveAlias S: unknown move 'T' at character 1; the moves are R, S"),
        ("Move R\nEnd\nMoveSequence S R S2\n", "line 13: MoveSequence S: 'S' occurs in its own definition"),
        (
            "MoveAlias A B\nMoveAlias B A\n",
            "line (11: MoveAlias A: 'A'|12: MoveAlias B: 'B') occurs in its own definition",
        ),
    ],
)
def test_refused_moves(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        read(text)


def test_messages_are_short_however_long_the_line_is() -> None:
    with pytest.raises(ConfigError) as caught:
        read("Illegal " + "CORNER " * 5000 + "\n")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Illegal CORNER 3", f"line 16: {ILLEGAL_FORM}, found 'Illegal CORNER 3'"),
        ("Illegal X 3 1", f"line 16: {ILLEGAL_FORM}, found 'Illegal X 3 1'"),
        ("Illegal EDGE 4 1", "line 16: Illegal: place: expected a number from 1 to 3, found '4'"),
        (
            "Illegal EDGE 1 1",
            "line 16: Illegal: the solved position has piece 1 on place 1, so it cannot be illegal there",
        ),
    ],
)
def test_refused_illegal_pieces(line: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        read(MOVE + line + "\n")


def test_the_wrong_convention_makes_another_puzzle() -> None:
    """The layers of the pyraminx tell the conventions apart; those of the cube do not, since it becomes its mirror."""
    text = pyraminx().tws()
    right, wrong = read_tws(text), read_tws("\n".join(_as_transformations(text.split("\n"))))
    assert [turn.permutations for turn in wrong.turns.values()] == [turn.permutations for turn in right.turns.values()]
    assert layers(right, expand(right.turns).values(), 4) == [1, 16, 136, 896, 5456]
    assert layers(wrong, expand(wrong.turns).values(), 4) == [1, 16, 136, 890, 5306]


def _as_transformations(lines: list[str]) -> list[str]:
    """The moves of a file as transformations, which count from 0, with their twists left as they are."""
    changed, is_move = [], False
    for before, line in zip(["", *lines], lines, strict=False):
        is_move = is_move or line.startswith("Move")
        if is_move and before in ("CORNER", "TIP", "EDGE"):
            line = " ".join(str(int(number) - 1) for number in line.split())
        changed.append(line.replace("Move ", "MoveTransformation "))
    return changed
