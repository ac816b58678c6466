"""A bar chart of the number of positions at each depth, as an SVG element that fills the width of its container."""

import math
from collections.abc import Callable, Iterator, Sequence

from antipodes.drawing.markup import Html, element, joined
from antipodes_tasks.base.quoting import counted

HEIGHT, TOP, BOTTOM = 230, 18, 24
"""Height of a chart, and the space above and below the bars, in pixels."""
ACCENT = "#4a86cf"
"""Colour of bars, visible on white and on black."""
CHARACTER, MARGIN = 6.3, 8
"""Approximate width of a character, and the space between a number and the bars, in pixels."""
MAX_TICKS, MAX_GRIDLINES = 8, 5
STEPS = (1, 2, 5)
UNITS = 1000
"""Height of the tallest bar in the coordinates of the bars."""
BELOW_ONE = math.log10(0.5)
"""Bottom of a logarithmic scale, below 1 so that the bar of a single position is visible."""
Scale = Callable[[float], float]
"""Height of a bar as a fraction of the tallest, from its count."""


def distribution(counts: Sequence[int], logarithmic: bool = False, height: int = HEIGHT) -> Html:
    """Return a chart with a bar for each of the counts at depths 0, 1, ...; the tooltip of a bar states its count."""
    most = max(counts)
    scale = _logarithmic(most) if logarithmic else (lambda count: count / most)
    values = _powers_of_ten(most) if logarithmic else _round_values(most)
    margin = round(CHARACTER * max(len(_short_number(value)) for value in values)) + MARGIN
    label = f"{'logarithmic' if logarithmic else 'linear'} bar chart of the positions at depths 0 to {len(counts) - 1}"
    return element(
        "svg",
        *_gridlines(values, scale, height),
        _bars(counts, scale, height),
        *_depths(len(counts), height),
        *_numbers(values, scale, height),
        class_="chart",
        style=f"margin-left:{margin}px;width:calc(100% - {margin}px)",
        height=height,
        overflow="visible",
        font_size=11,
        fill="currentColor",
        role="img",
        aria_label=f"{label}; maximum {most:,} at depth {counts.index(most)}",
    )


def _logarithmic(maximum: int) -> Scale:
    return lambda count: (math.log10(count) - BELOW_ONE) / (math.log10(maximum) - BELOW_ONE)


def _bars(counts: Sequence[int], scale: Scale, height: int) -> Html:
    """Return the bars, stretched to the width of the chart."""
    width = 0.84 if len(counts) < 100 else 1
    bars = (_bar(depth, count, round(UNITS * scale(count), 1), width) for depth, count in enumerate(counts))
    return element(
        "svg",
        joined(bars, "\n"),
        y=TOP,
        width="100%",
        height=height - TOP - BOTTOM,
        viewBox=f"0 0 {len(counts)} {UNITS}",
        preserveAspectRatio="none",
        class_="bars",
        fill=ACCENT,
    )


def _bar(depth: int, count: int, tall: float, width: float) -> Html:
    tip = element("title", f"depth {depth}: {counted(count, 'position')}")
    return Html(
        f'<rect x="{depth + (1 - width) / 2:g}" y="{UNITS - tall:g}" width="{width:g}" height="{tall:g}">{tip}</rect>'
    )


def _gridlines(values: Sequence[int], scale: Scale, height: int) -> Iterator[Html]:
    for value in (0, *values):
        y = _y(scale(value) if value else 0, height)
        yield element("line", x1=0, x2="100%", y1=y, y2=y, stroke="currentColor", stroke_opacity=0.16)


def _numbers(values: Sequence[int], scale: Scale, height: int) -> Iterator[Html]:
    """Yield the number at each gridline, in the left margin."""
    for value in values:
        y = _y(scale(value), height) + 4
        yield element("text", _short_number(value), x=-MARGIN, y=y, text_anchor="end", opacity=0.7)


def _depths(count: int, height: int) -> Iterator[Html]:
    """Yield the depths below the bars, so few that they fit on a phone."""
    step = next(one for one in _round_steps() if (count - 1) / one < MAX_TICKS)
    for depth in range(0, count, step):
        middle = f"{(depth + 0.5) / count:.2%}"
        yield element("text", str(depth), x=middle, y=height - 8, text_anchor="middle", opacity=0.7)


def _y(share: float, height: int) -> float:
    """Return the y coordinate in pixels, from the top, of a height given as a fraction of the tallest bar."""
    return round(TOP + (1 - share) * (height - TOP - BOTTOM), 1)


def _round_values(maximum: int) -> list[int]:
    """Return round numbers at equal distances, up to the maximum."""
    step = next(one for one in _round_steps() if maximum / one <= MAX_GRIDLINES)
    return list(range(step, maximum + 1, step))


def _powers_of_ten(maximum: int) -> list[int]:
    digits = len(str(maximum))
    return [10**power for power in range(1, digits, math.ceil(digits / MAX_GRIDLINES))] or [1]


def _round_steps() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on."""
    power = 1
    while True:
        yield from (step * power for step in STEPS)
        power *= 10


def _short_number(value: int) -> str:
    """Return a round number as text, with a word such as "million" if it is long."""
    for size, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if value >= size:
            return f"{value / size:,g} {word}"
    return f"{value:,}"
