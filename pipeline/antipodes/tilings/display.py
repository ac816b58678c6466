"""Display of tilings and reports of their runs in notebooks."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes.drawing.markup import Html
from antipodes.drawing.notebook import card
from antipodes.system.addresses import in_shell
from antipodes.tilings.drawing import draw_empty, draw_tiling
from antipodes.tilings.store import TilingManifest
from antipodes_tasks.base.quoting import counted

TILINGS_DRAWN = 3
"""Number of tilings that are drawn: the first, the last, and one in between."""
SIZE = 110
"""Side of a square board, in pixels."""


def show_tilings(
    manifest: TilingManifest,
    address: str,
    drawn: Sequence[NDArray[np.int32]],
    more: Iterable[str] = (),
    raw: bool = False,
) -> Html:
    """Return the numbers of tilings as HTML, with pictures of tilings ``(copies,)`` or of the empty board."""
    problem = manifest.problem
    pictures = [draw_tiling(problem, one) for one in drawn] or [draw_empty(problem)]
    orbits, count = f"{counted(manifest.tilings, 'tiling')} up to symmetry", manifest.raw_tilings
    lines = [f"{counted(count, 'tiling')}, {orbits}" if raw else f"{orbits}, {count:,} in all"]
    if not manifest.complete:
        lines += [f"so far: {manifest.saved} searched", f"resume with: antipodes resume {in_shell(address)}"]
    return card(problem.name, [*lines, *more, address], pictures, SIZE)
