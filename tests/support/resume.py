"""Runs that resume a store."""

from dataclasses import replace
from typing import Any

from antipodes.system.addresses import Address
from antipodes.system.options import RunOptions
from antipodes.tables.json_results import RunReport
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import search_store


def resume(store: Address, options: RunOptions = RunOptions(), *more: Any) -> RunReport:
    """Resume an unfinished store of any kind, which stores the definition of its puzzle."""
    manifest = search_store(store).read()
    return run_puzzle(manifest.config, store, replace(options, counts_only=manifest.COUNTS_ONLY), *more)
