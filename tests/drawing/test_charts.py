"""The chart of a distribution, read as SVG."""

import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes.drawing.charts import MAX_GRIDLINES, MAX_TICKS, UNITS, distribution

counts_of_layers = st.lists(st.integers(1, 10**18), min_size=1, max_size=300)


def bars(chart: str) -> list[tuple[float, float, str]]:
    """Left end, height and tip of each bar."""
    found = ET.fromstring(chart).find("svg")
    assert found is not None
    return [(float(one.get("x", "")), float(one.get("height", "")), one.findtext("title", "")) for one in found]


def texts(chart: str) -> list[str]:
    return [one.text or "" for one in ET.fromstring(chart).findall("text")]


@given(counts_of_layers)
def test_bars_are_as_high_as_counts(counts: list[int]) -> None:
    drawn = bars(distribution(counts))
    assert [height for _, height, _ in drawn] == pytest.approx([UNITS * n / max(counts) for n in counts], abs=0.051)
    assert [math.floor(x) for x, _, _ in drawn] == list(range(len(counts)))


@given(counts_of_layers)
def test_logarithmic_bars_rise_with_counts_and_none_vanishes(counts: list[int]) -> None:
    heights = [height for _, height, _ in bars(distribution(counts, logarithmic=True))]
    assert max(heights) == UNITS
    assert min(heights) > 10
    by_count = sorted(zip(counts, heights, strict=True))
    assert [height for _, height in by_count] == sorted(heights)


def test_equal_factors_are_equal_steps_on_a_logarithmic_scale() -> None:
    heights = [height for _, height, _ in bars(distribution([1, 10, 100, 1000], logarithmic=True))]
    steps = [after - before for before, after in pairwise(heights)]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.2)


def test_a_bar_says_its_count() -> None:
    assert [tip for _, _, tip in bars(distribution([1, 4521]))] == ["depth 0: 1 position", "depth 1: 4,521 positions"]


@given(counts_of_layers, st.booleans())
def test_there_is_room_for_the_numbers(counts: list[int], logarithmic: bool) -> None:
    shown = texts(distribution(counts, logarithmic))
    assert shown[0] == "0"
    assert 2 <= len(shown) <= MAX_TICKS + MAX_GRIDLINES
    assert max(map(len, shown)) <= len("1,000,000 trillion")


@pytest.mark.parametrize(
    ("most", "logarithmic", "expected"),
    [
        (24047, False, ["5,000", "10,000", "15,000", "20,000"]),
        (45_000_000, False, ["10 million", "20 million", "30 million", "40 million"]),
        (24047, True, ["10", "100", "1,000", "10,000"]),
        (3, True, ["1"]),
        (1, False, ["1"]),
    ],
)
def test_the_numbers_of_gridlines(most: int, logarithmic: bool, expected: list[str]) -> None:
    assert texts(distribution([most], logarithmic))[1:] == expected


def test_a_reader_is_told_what_it_is() -> None:
    assert ET.fromstring(distribution([1, 2, 4, 2])).get("aria-label") == (
        "linear bar chart of the positions at depths 0 to 3; maximum 4 at depth 2"
    )
