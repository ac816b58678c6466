"""The layers as a picture. Needs the extra ``plot``."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from antipodes_tasks.errors import InputError, StoreError, missing_package
from antipodes_tasks.quoting import counted, quote, shorten

ENDINGS = (".svg", ".png", ".pdf")
"""The ends of names of files that a plot can be written to."""


def check_plot(path: Path) -> None:
    """Raise InputError where matplotlib is not installed, or no plot can be written to a file of this name."""
    if path.suffix.lower() not in ENDINGS:
        expected = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        raise InputError(f"--plot: expected a file name ending in {expected}, found {quote(str(path))}")
    if find_spec("matplotlib") is None:
        raise missing_package("--plot", "matplotlib", "plot")


def plot_layers(layers: Sequence[int], name: str, path: Path, complete: bool = True) -> None:
    """Draw the number of positions at each depth into a file of the kind that its suffix names.

    Raises
    ------
    InputError
        As `check_plot`.
    StoreError
        The file cannot be written.
    """
    check_plot(path)
    figure = _figure(layers, name if complete else f"{name} (unfinished)")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise StoreError(f"cannot write {shorten(str(path))}: {error.strerror or error}") from error


def _figure(layers: Sequence[int], name: str) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    depths = range(len(layers))
    axes.bar(depths, layers, width=0.86, color="#3b6ea8")
    axes.set(xlabel="depth", ylabel="positions", xlim=(-0.8, len(layers) - 0.2))
    axes.set_title(f"{name}: {counted(sum(layers), 'position')}, radius {len(layers) - 1}", loc="left")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    logarithmic = axes.twinx()
    logarithmic.plot(depths, layers, color="#6b6b6b", linewidth=1, marker=".", markersize=3)
    logarithmic.set_yscale("log")
    logarithmic.set_ylabel("positions, logarithmic (line)", color="#6b6b6b")
    logarithmic.spines["top"].set_visible(False)
    return figure
