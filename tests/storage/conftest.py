from pathlib import Path

import pytest
from places import Place

from antipodes.storage.backend import Storage
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.opening import storage_at


@pytest.fixture(params=["directory", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty directory or bucket."""
    return Place(tmp_path if request.param == "directory" else request.getfixturevalue("bucket"))


@pytest.fixture(params=["directory", "bucket"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """An empty storage of each kind."""
    if request.param == "directory":
        return DirectoryStorage(tmp_path / "t.zarr")
    return storage_at(request.getfixturevalue("bucket").url())
