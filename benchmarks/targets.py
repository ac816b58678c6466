"""Targets of measurements, and whether a result misses its target."""

import re

from benchmarks.history import UNITS, quantity

FIGURE = re.compile(
    r"(?:\b(?P<label>median|p99|search) )?(?P<number>[\d,]+(?:\.\d+)?) ?"
    r"(?P<unit>µs|ms|s\b|minutes?|[kMG]i?B|%|million/s|times(?: as fast)?)"
)
"""A number with a unit, and the word before it that tells several figures of a result apart."""
FASTER = ("million/s", "times as fast")
"""Units of figures that should be large; all others should be small."""


def is_missed(target: str, measured: str) -> bool:
    """Return whether a figure of a result is worse than the figure of the target with the same label and quantity."""
    wanted, found = _figures(target), _figures(measured)
    return any(_is_worse(key, value, found[key]) for key, value in wanted.items() if key in found)


def _figures(text: str) -> dict[tuple[str | None, str, int], float]:
    """Return the figures by label, quantity, and their place among those with this label and quantity."""
    found: dict[tuple[str | None, str, int], float] = {}
    for one in FIGURE.finditer(text):
        kind = quantity(one["unit"])
        place = sum(key[:2] == (one["label"], kind) for key in found)
        value = float(one["number"].replace(",", "")) * UNITS.get(one["unit"], 1)
        found[one["label"], kind, place] = value
    return found


def _is_worse(key: tuple[str | None, str, int], wanted: float, found: float) -> bool:
    return found < wanted if key[1] in FASTER else found > wanted
