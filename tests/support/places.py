"""The places in which a store may be."""

import json
from pathlib import Path

from s3 import Bucket
from stores import contents


class Place:
    """A directory or a bucket that may contain stores."""

    def __init__(self, at: Path | Bucket) -> None:
        self._at = at

    def address(self, name: str = "t.zarr") -> str:
        return str(self._at / name) if isinstance(self._at, Path) else self._at.url(name)

    def files(self) -> dict[str, bytes]:
        """Return all files or objects, by path."""
        if isinstance(self._at, Path):
            return contents(self._at)
        return {key: self._at.get(key) for key in self._at.listing()}

    def put(self, name: str, content: bytes) -> None:
        if isinstance(self._at, Path):
            (self._at / name).parent.mkdir(parents=True, exist_ok=True)
            (self._at / name).write_bytes(content)
        else:
            self._at.put(name, content)

    def take_over(self) -> None:
        """Replace the lock of ``t.zarr`` with the lock of a run on another machine."""
        owner = {"process": 1, "host": "elsewhere", "machine": "another", "started": 0, "token": "old", "beat": 0}
        self.put("t.zarr.lock", json.dumps(owner).encode())
