"""Libraries, loaded by the command that needs them."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Have libraries loaded inside without searching them for garbage, now or later.

    Their modules live as long as the process, and the search for garbage while they load is a quarter of a short run.
    The garbage collector is on again when the body ends.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
