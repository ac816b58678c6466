from pathlib import Path

import pytest
from places import Place


@pytest.fixture(params=["directory", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty directory or bucket."""
    return Place(tmp_path if request.param == "directory" else request.getfixturevalue("bucket"))
