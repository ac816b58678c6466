"""The chart of the history of benchmarks: the seconds of some measurements in each run."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.history import Entry, seconds

SHOWN = {
    "antipodes --help": "Distance tables: `antipodes --help`",
    "antipodes query": "Distance tables: `antipodes query`, one position, whole command",
    "antipodes run three-colours": "Distance tables: `antipodes run three-colours`, whole command",
    "seven-tiles, search": "Large tables: `seven-tiles`, 518,918,400 positions, search phase",
    "antipodes tile 6x10": "Tilings: `antipodes tile 6x10`, whole command",
    "textbook C program, three-colours": "Distance tables: textbook C program, whole run",
}
"""The key in the history of each measurement, by its label. The C program shows how fast the machine was."""


def draw(entries: Sequence[Entry], path: Path) -> None:
    """Write the chart as SVG. Runs without a measurement leave a gap in its line."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "antipodes", "svg.fonttype": "none"}):  # the same history gives the same file
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
        for label, key in SHOWN.items():
            times = [seconds(one.figures.get(key, "")) for one in entries]
            axes.plot(range(len(entries)), [float("nan") if one is None else one for one in times], "o-", label=label)
        axes.set_xticks(range(len(entries)), [f"{one.date}\n{one.commit}" for one in entries], fontsize=7)
        axes.set_yscale("log")
        axes.set_ylabel("seconds")
        figure.legend(loc="outside right upper", fontsize=8)
        figure.savefig(path, metadata={"Date": None})
