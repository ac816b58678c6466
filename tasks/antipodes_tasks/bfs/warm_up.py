"""The kernels of a search, compiled or loaded from numba's cache before they are needed."""

from antipodes_tasks.bfs import kernels, segments


def warm_up() -> None:
    """Compile the kernels of a layer and of its segments, or load them from numba's cache."""
    kernels.warm_up()
    segments.warm_up()
