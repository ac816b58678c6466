"""The settings of zarr, from variables, files or a program: some make sound stores look damaged, or reads hang.

A setting of its codec Blosc makes two tasks write different bytes for the same depths.
"""

from typing import Any

import zarr
from numcodecs import blosc

from antipodes_tasks.errors import StoreError
from antipodes_tasks.quoting import quote

NEEDED = (
    "default_zarr_format",
    "codec_pipeline.path",
    "codecs.blosc",
    "codecs.bytes",
    "codecs.crc32c",
    "codecs.zstd",
    "buffer",
    "ndbuffer",
)
"""Settings that must have zarr's defaults."""


def check_settings() -> None:
    """Raise StoreError where a setting prevents zarr from reading and writing stores correctly."""
    defaults = zarr.config.defaults[0]
    for name in NEEDED:
        _expect(name, repr(_default(defaults, name)), zarr.config.get(name, None) == _default(defaults, name))
    tasks = zarr.config.get("async.concurrency", None)
    _expect("async.concurrency", "a number from 1", type(tasks) is int and tasks > 0)
    _expect("array.order", "'C' or 'F'", zarr.config.get("array.order", None) in ("C", "F"))


def check_blosc() -> None:
    """Raise StoreError where Blosc would write with threads of its own, which put its blocks in any order."""
    if blosc.use_threads is not False:
        raise StoreError(
            f"cannot write with Blosc as it is set here: numcodecs.blosc.use_threads: expected False, as zarr sets it, "
            f"found {quote(blosc.use_threads)}"
        )


def _expect(name: str, expected: str, met: bool) -> None:
    if not met:
        found = quote(zarr.config.get(name, None))
        raise StoreError(
            f"cannot use zarr as it is set here: {name}: expected {expected}, found {found}; "
            "look for ZARR_ variables, zarr's configuration files, or zarr.config.set in the program"
        )


def _default(defaults: Any, name: str) -> Any:
    for part in name.split("."):
        defaults = defaults[part]
    return defaults
