"""Complete state-space search: the distance of every position of a puzzle from its start.

>>> import antipodes as ap
>>> with ap.open_table("outputs/eight-puzzle.zarr") as table:  # doctest: +SKIP
...     table["8 6 7 / 2 5 4 / 3 0 1"]
31

`__init__.pyi` lists the public names. Each is imported from its module on first use, because most modules need numpy,
numba, zarr or dask. The program also imports this package, and shows its help without loading these libraries. `errors`
contains all errors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
