import numpy as np
import pytest

import antipodes as ap


def test_symmetries_that_preserve_a_goal() -> None:
    assert ap.symmetries("hanoi-3-pegs").order == 2
    spread = ap.symmetries("hanoi-3-pegs", "0 " * 6 + "1 " * 6)
    assert [one.is_identity for one in spread.elements()] == [True]
    several = ap.symmetries("hanoi-3-pegs", np.array([[0] * 12, [1] * 12, [2] * 12]))
    assert several.order == 6


def test_what_is_no_goal() -> None:
    with pytest.raises(ap.errors.PositionError):
        ap.symmetries("eight-puzzle", [0] * 9)
    with pytest.raises(ap.AntipodesError, match="eight-puzle"):
        ap.symmetries("eight-puzle")
