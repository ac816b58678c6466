"""Stores of every kind, made once, and clients of services of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from service_client import Client
from service_stores import TABLES, client_of, make_stores

from antipodes.tables.table import Table, open_table


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small stores of every kind; not to be changed."""
    return make_stores(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def client(stores: Path) -> Client:
    """A client of a service of these stores."""
    return client_of(stores)


@pytest.fixture(scope="session")
def tables(stores: Path) -> Iterator[dict[str, Table]]:
    """The finished tables, by the names of their stores."""
    opened = {name: open_table(stores / f"{name}.zarr") for name in TABLES}
    yield opened
    for table in opened.values():
        table.close()
