"""Where the store of a run goes, unless the user says otherwise."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from antipodes.storage.address import Address, address_from

OUTPUTS = Path("outputs")


def default_store(name: str, counts_only: bool = False) -> Path:
    """The path of the store of a puzzle or board of this name."""
    return OUTPUTS / f"{name}{'.counts' if counts_only else ''}.zarr"


def chosen_store(given: Address | None, run: Mapping[str, Any], name: str, counts_only: bool = False) -> Address:
    """The store of a run: the given one, else that of the config's ``[run]`` table, else the default one."""
    address = given if given is not None else run.get("store")
    if address is None:
        return default_store(name, counts_only)
    return address_from(address) if isinstance(address, str) else address
