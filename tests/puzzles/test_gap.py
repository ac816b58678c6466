"""Generators for GAP: statements, names, the orbits in them, and each refusal with its line."""

import pytest
from permutation_groups import elements

from antipodes.puzzles.formats.definition import Orbit
from antipodes.puzzles.formats.gap import read_gap
from antipodes_tasks.base.errors import ConfigError


def test_what_is_on_a_point_goes_to_the_next_point() -> None:
    found = read_gap("M_A:=(1,2,3);")
    assert found.orbits == (Orbit("ORBIT1", (0, 1, 2), 1, (0, 0, 0)),)
    assert found.turns["A"].permutations == ((2, 0, 1),)


def test_statements_comments_and_questions() -> None:
    permutations = "# generators\n  M_A := (1, 2)\n (3,4) ; M_B:=\n(2,3);;\n\n"
    found = read_gap(permutations + "Gen:=[\nM_B,\nM_A\n];Size(Group(Gen));\n#ip\nOrder(M_A);\n")
    assert list(found.turns) == ["B", "A"], "in the order of Gen"
    assert found.turns["A"].permutations == ((1, 0, 3, 2),)


def test_permutations_that_are_no_generators() -> None:
    found = read_gap("M_A:=(1,2); M_B:=(2,3); M_x:=(1,3); Gen:=[M_A,M_x];")
    assert list(found.turns) == ["A"]
    assert list(found.others) == ["B", "x"]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("M_R", "M_L"), ["R", "L"]),
        (("M_M_R", "M_M_L"), ["R", "L"]),
        (("M_M_M", "M_M_L"), ["M", "L"]),
        (("M_M_R", "M_L"), ["M_R", "L"]),
        (("R", "L"), ["R", "L"]),
        (("M_R", "R"), ["M_R", "R"]),
        (("M_", "M_R"), ["M_", "R"]),
    ],
)
def test_prefixes_of_names(names: tuple[str, str], found: list[str]) -> None:
    assert list(read_gap(f"{names[0]}:=(1,2);{names[1]}:=(2,3);").turns) == found


def test_pieces_of_several_points() -> None:
    """Two pieces of three points change places; the second one is turned by one point. The third one turns alone."""
    found = read_gap("M_A:=(1,4,2,5,3,6)(7,9,8);ip:=[[1],[4],[7]];")
    assert [(orbit.pieces, orbit.orientations) for orbit in found.orbits] == [((0, 1), 3), ((0,), 3)]
    turn = found.turns["A"]
    assert turn.permutations == ((1, 0), (0,))
    assert turn.twists == ((1, 0), (2,))


def test_identical_pieces() -> None:
    found = read_gap("M_A:=(1,3,5)(2,4,6);M_B:=(5,6)(7,8);ip:=[[5,1],[3],[7],[8]];")
    assert [(orbit.pieces, orbit.orientations) for orbit in found.orbits] == [((0, 1, 0), 2), ((0, 1), 1)]


def test_identical_points() -> None:
    found = read_gap("M_A:=(1,2,3,4,5);ip:=[[5,1],[2,3],[4]];")
    assert found.orbits == (Orbit("ORBIT1", (0, 1, 1, 2, 0), 1, (0,) * 5),)


@pytest.mark.parametrize(
    "ip",
    [
        "",
        "ip:=[[2],[4]];",
        "ip:=[[1],[4]];",
        "ip:=[[1],[2],[3]];",
        "ip:=[];",
    ],
)
def test_points_that_are_no_pieces(ip: str) -> None:
    """Points of different orbits are apart, and those that never move are left out."""
    found = read_gap(f"M_A:=(1,2,4)(7);M_B:=(3,6);{ip}")
    assert [orbit.pieces for orbit in found.orbits] == [(0, 1, 2), (0, 1)]
    assert [orbit.orientations for orbit in found.orbits] == [1, 1]


def test_reflected_pieces_are_points() -> None:
    """The points of a piece that changes its handedness do not go round."""
    found = read_gap("M_A:=(1,4)(2,6)(3,5);ip:=[[1],[4]];")
    assert [len(orbit.pieces) for orbit in found.orbits] == [2, 2, 2]


def test_the_mathieu_group_m11() -> None:
    found = read_gap("a:=(1,2,3,4,5,6,7,8,9,10,11);b:=(3,7,11,8)(4,10,5,6);")
    origins = [turn.permutations[0] for turn in found.turns.values()]
    assert len(elements(origins)) == 7920


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file contains no permutation, such as M_R:="),
        ("M_A:=();M_B:=(3);", "none of the permutations moves a point"),
        ("M_x:=(1,2);", "all permutations are rotations of the whole puzzle; at least one other"),
        ("M_A:=(1,2)", r"line 1: the last statement has no ; at its end: 'M_A:=\(1,2\)'"),
        ("M_A:=(1,2);\n\nM_A:=(1,3);", "line 3: M_A: the name 'M_A' is already used"),
        ("M_A:=(1,2)(2,3);", "line 1: M_A: expected each point once, found 2 twice"),
        ("M_A:=(0,1);", "line 1: M_A: expected points from 1 to 1024, found '0'"),
        (
            "M_A:=(1,2;",
            r"line 1: M_A: expected cycles such as \(1,2,3\)\(4,5\), found '\(1,2'; powers and other expressions "
            "are not supported$",
        ),
        (
            "M_A:=(1,2);\nM_B:=M_A^2;",
            r"line 2: M_B: expected cycles such as \(1,2,3\)\(4,5\), found 'M_A\^2'; powers and other expressions "
            "are not supported$",
        ),
        ("M_A:=(1,2);\nPrint(M_A);", r"line 2: 'Print\(M_A\)' is not supported; expected NAME:=\.\.\."),
        ("M_A:=(1,2);\nGen:=[M_B];", "line 2: Gen: 'M_B' is not the name of a permutation"),
        ("M_A:=(1,2);\nGen:=[M_A,M_A];", "line 2: Gen: 'M_A' is listed twice"),
        ("M_A:=(1,2);\nGen:=[];", "line 2: Gen: the list of permutations is empty"),
        ("M_A:=(1,2);\nGen:=[M_A];\nGen:=[M_A];", "line 3: Gen: expected one list of names"),
        ("M_A:=(1,2);ip:=[[1],\n[2],[1]];", "line 1: ip: expected each point once, found 1 twice"),
        ("M_A:=(1,2);ip:=[1,2];", r"line 1: ip: expected one list of lists such as \[\[1\],\[2,3\]\], found '\[1,2\]'"),
        ("M_A:=(1,2);ip:=[[1]];ip:=[[2]];", "line 1: ip: expected one list of lists"),
        (
            f"M_A:=({','.join(map(str, range(1, 301)))});ip:=[[1]];",
            "expected at most 256 different pieces that change places",
        ),
    ],
)
def test_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        read_gap(text)
