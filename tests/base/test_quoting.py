"""How messages count and quote."""

import pytest

from antipodes_tasks.base.quoting import counted, quote


@pytest.mark.parametrize(
    ("number", "words", "expected"),
    [
        (0, ("move",), "0 moves"),
        (1, ("move",), "1 move"),
        (2, ("move",), "2 moves"),
        (12_108_096, ("position",), "12,108,096 positions"),
        (1, ("position fits", "positions fit"), "1 position fits"),
        (3, ("position fits", "positions fit"), "3 positions fit"),
    ],
)
def test_counted(number: int, words: tuple[str, ...], expected: str) -> None:
    assert counted(number, *words) == expected


def test_integers_are_quoted_up_to_a_length() -> None:
    assert quote(2**160 - 1) == str(2**160 - 1)
    assert quote(-(2**160)) == "an integer of 161 bits"
    assert quote([10**5000]) == "[an integer of 16,610 bits]"  # which Python refuses to write
