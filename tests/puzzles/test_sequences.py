"""Sequences of moves: brackets, powers, primes; and what is refused."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisty_geometry import skewb

from antipodes.puzzles.formats.definition import Turn, identity
from antipodes.puzzles.formats.tws import read_tws
from antipodes.puzzles.sequences import parse_sequence, resolve
from antipodes_tasks.errors import ConfigError, PositionError

PUZZLE = read_tws(skewb().tws())
NAMES = dict(zip(("R", "U", "Rw", "2R", "x'", "y"), PUZZLE.turns.values(), strict=False))
R, U, RW, TWO_R, X, Y = NAMES.values()
NOTHING = identity(PUZZLE.orbits)


def done(*turns: Turn) -> Turn:
    result = NOTHING
    for turn in turns:
        result = result.then(turn)
    return result


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("", ()),
        ("R U", (R, U)),
        ("RU, R", (R, U, R)),
        ("R2 U'", (R, R, U.inverse())),
        ("R2' U1 R0", (R.inverse(), R.inverse(), U)),
        ("Rw 2R R", (RW, TWO_R, R)),
        ("x' x'' x'2", (X, X.inverse(), X, X)),
        ("(R U)3", (R, U, R, U, R, U)),
        ("(R U)2'", (U.inverse(), R.inverse(), U.inverse(), R.inverse())),
        ("[R: U]", (R, U, R.inverse())),
        ("[R, U]", (R, U, R.inverse(), U.inverse())),
        ("[R U: U2 y]'", (R, U, Y.inverse(), U.inverse(), U.inverse(), U.inverse(), R.inverse())),
        ("[(R, y): [U,y]2]", (R, Y, U, Y, U.inverse(), Y.inverse(), U, Y, U.inverse(), Y.inverse(), *(Y, Y, R, R))),
        ("[: U]", (U,)),
        ("R . U // and so on\n R", (R, U, R)),
        ("R’ U′", (R.inverse(), U.inverse())),
    ],
)
def test_read(text: str, turns: tuple[Turn, ...]) -> None:
    assert parse_sequence(text, NAMES) == done(*turns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R Q U", "expected moves R, U, Rw, 2R, x', y; found 'Q' at character 3"),
        ("R Ux U", "found 'Ux' at character 3"),
        ("(R U", r"expected a bracket that closes the '\(' at character 1"),
        ("[R: (U]", r"expected no '\]' here, found it at character 7"),
        ("R)", r"expected no '\)' here, found it at character 2"),
        ("[R U]2", "no separator before character 5"),
        ("[R: U: R]", "expected one separator in brackets .*, found ':' at character 6"),
        ("R : U", "found ':' at character 3"),
        ("R" + "9" * 19, "expected a power of at most 18 digits, found 19 at character 2"),
        ("R²", "found 'R²' at character 1"),
        ("R" * 70000, "expected a sequence of at most 65,536 characters, found 70,000"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_sequence(text, NAMES)
    with pytest.raises(PositionError, match=message):
        parse_sequence(text, NAMES, PositionError)


@given(st.text(st.sampled_from("RUwx'y2 ()[]:,./²’é\n"), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_sequence(text, NAMES)
    except ConfigError as error:
        message = str(error)
        assert "expected" in message
        assert len(message.splitlines()) == 1
    else:
        assert parse_sequence(f"({text}\n)'", NAMES) == found.inverse()


def test_no_names() -> None:
    with pytest.raises(ConfigError, match="expected moves with names, found none"):
        parse_sequence("R", {})


@given(st.lists(st.sampled_from(sorted(NAMES)), max_size=6), st.integers(-9, 9))
def test_powers_of_groups(names: list[str], power: int) -> None:
    written = f"({' '.join(names)}){abs(power)}{chr(39) if power < 0 else ''}"
    assert parse_sequence(written, NAMES) == done(*(NAMES[name] for name in names)).power(power)


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        ("(" * 20000 + "R" + ")5" * 20000, R.power(5**20000)),
        ("[R:" * 9999 + "U" + "]'" * 9999, done(R.power(9999), U.inverse(), R.power(-9999))),
        ("R999999999999999999'" * 3000, R.power(-999999999999999999 * 3000)),
    ],
    ids=["brackets", "conjugates", "powers"],
)
def test_long_sequences_take_a_moment(text: str, turn: Turn) -> None:
    begun = time.process_time()
    assert parse_sequence(text, NAMES) == turn
    assert time.process_time() - begun < 5


def test_names_defined_by_each_other() -> None:
    found = resolve({"A": "[B: R]", "B": "C2'", "C": "U R"}, {"R": R, "U": U}, str)
    assert list(found) == ["A", "B", "C"]
    assert found["A"] == done(U, R, U, R).inverse().then(R).then(done(U, R, U, R))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"A": "A"}, "^A!: expected a sequence of other moves, found 'A' in its own definition"),
        ({"A": "B R", "B": "C", "C": "[R: A]"}, "in its own definition"),
        ({"A": "R", "B": "D"}, "^B!: expected moves R, U, A, B; found 'D' at character 1"),
        ({"A": "R", "B": "(R"}, r"^B!: expected a bracket that closes"),
        ({"A": "R" * 40000, "B": "R" * 40000}, "^A!: expected sequences of at most 65,536 characters in all"),
    ],
)
def test_refused_definitions(texts: dict[str, str], message: str) -> None:
    where: Callable[[str], str] = "{}!".format
    with pytest.raises(ConfigError, match=message):
        resolve(texts, {"R": R, "U": U}, where)


def test_definitions_that_double_a_thousand_times() -> None:
    """Their lengths as lists of moves would have 300 digits."""
    texts = {"a0": "R U"} | {f"a{k}": f"(a{k - 1})2" for k in range(1, 1000)}
    found = resolve(texts, {"R": R, "U": U}, str)
    assert found["a999"] == done(R, U).power(2**999)
