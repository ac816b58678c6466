"""The layers as a picture. Needs the extra ``plot``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from antipodes.errors import InputError, StoreError
from antipodes.quoting import quote, shorten


def plot_layers(layers: Sequence[int], name: str, path: Path, complete: bool = True) -> None:
    """Draw the number of positions at each depth into a file of the kind that its suffix names.

    Raises
    ------
    InputError
        matplotlib is not installed, or cannot write files of this kind.
    StoreError
        The file cannot be written.
    """
    figure = _figure(layers, name if complete else f"{name} (unfinished)")
    known = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise InputError(f"--plot: expected a file name ending in .svg, .png or .pdf, found {quote(str(path))}")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise StoreError(f"cannot write {shorten(str(path))}: {error.strerror or error}") from error


def _figure(layers: Sequence[int], name: str) -> Any:
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter
    except ImportError as error:
        raise InputError("--plot needs matplotlib: pip install 'antipodes[plot]'") from error
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    depths = range(len(layers))
    axes.bar(depths, layers, width=0.86, color="#3b6ea8")
    axes.set(xlabel="depth", ylabel="positions", xlim=(-0.8, len(layers) - 0.2))
    axes.set_title(f"{name}: {sum(layers):,} positions, radius {len(layers) - 1}", loc="left")
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
