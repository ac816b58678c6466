"""Libraries, loaded by the commands that need them."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Load libraries in the block without garbage collection, now or later.

    Their modules live as long as the process, and collecting garbage while they load takes a quarter of a short run.
    The garbage collector is on again after the block.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
