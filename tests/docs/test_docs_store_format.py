"""The page on the store format is enough to read a table: a reader is written from it alone."""

import base64
import hashlib
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numcodecs import zstd

from antipodes.config import Config, load_config
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import open_table

JUMP = {"name": "labelled", "family": "jump", "moves": "knight", "start": "AB#/---/#CD"}
TILES = {"name": "tiles", "family": "sliding", "rows": 2, "columns": 4, "start": "1 1 2 2 / 3 3 3 0"}


class Reader:
    """A table, read as docs/reference/store-format.md and docs/explanation/index-of-positions.md say."""

    def __init__(self, store: Path) -> None:
        self.store = store
        text = (store / "commit.json").read_text(encoding="utf-8")
        manifest = self.manifest = json.loads(text)
        assert (manifest["format"], manifest["version"]) == ("antipodes-table", 3)
        assert json.dumps(manifest, indent=1, ensure_ascii=False) + "\n" == text
        unsigned = {key: value for key, value in manifest.items() if key != "checksum"}
        canonical = json.dumps(unsigned, ensure_ascii=False).encode()
        assert hashlib.sha256(canonical).hexdigest() == manifest["checksum"]
        for name, digest in manifest["metadata"].items():
            assert hashlib.sha256((store / name).read_bytes()).hexdigest() == digest

    def index(self, labels: list[int]) -> int | None:
        """The number of an arrangement of labels on the places; None if it has none."""
        assert self.manifest["space"] == "arrangements", "another kind needs the parts and starts of the puzzle"
        counts = self.manifest["counts"]
        if parity := self.manifest["details"].get("parity"):
            inversions = sum(one > other for one, other in itertools.combinations(labels, 2))
            if parity[labels.index(0)] != inversions % 2:
                return None
            counts = [*counts[:-2], 2]
        number, left = 0, [min(label, len(counts) - 1) for label in labels]
        for label, count in enumerate(counts):
            taken = [place for place, other in enumerate(left) if other == label]
            assert len(taken) == count
            digit = sum(math.comb(place, k) for k, place in enumerate(taken, 1))
            number = number * math.comb(len(left), count) + digit
            left = [other for other in left if other != label]
        return number

    def chunk(self, number: int) -> Any:
        """The committed depths of a chunk; None if it holds none."""
        manifest = self.manifest
        summary = base64.b64decode(manifest["chunks"][16 * number : 16 * number + 16])
        least, greatest = (int.from_bytes(summary[k : k + 2], "little") for k in (8, 10))
        if least == greatest == 65535:
            return None
        key = f"{manifest['array']}/c/{number}/0"
        stored = (self.store / key).read_bytes()
        assert crc32c(stored[:-4]) == int.from_bytes(stored[-4:], "little")
        depths = np.frombuffer(zstd.decompress(stored[:-4]), np.dtype(manifest["dtype"]).newbyteorder("<"))
        depths = depths.reshape(manifest["chunk_rows"], manifest["width"])[
            : manifest["rows"] - number * manifest["chunk_rows"]
        ]
        depths = np.where(depths > manifest["committed_depth"], np.iinfo(depths.dtype).max, depths).astype(depths.dtype)
        space = json.dumps([manifest["space"], manifest["details"]], ensure_ascii=False)
        identity = f"{manifest['fingerprint']} {hashlib.sha256(space.encode()).hexdigest()}"
        hashed = hashlib.sha256(f"{identity} {key}\n".encode() + depths.tobytes())
        assert hashed.digest()[:8] == summary[:8]
        assert (depths.min(), depths[depths <= manifest["committed_depth"]].max()) == (least, greatest)
        return depths

    def distance(self, labels: list[int]) -> int | None:
        """The distance of a position from the nearest start."""
        index = self.index(labels)
        if index is None:
            return None
        row, column = divmod(index, self.manifest["width"])
        number, row_of_chunk = divmod(row, self.manifest["chunk_rows"])
        depths = self.chunk(number)
        found = None if depths is None else int(depths[row_of_chunk, column])
        return None if found is None or found > self.manifest["committed_depth"] else found


def crc32c(content: bytes) -> int:
    """CRC-32C (Castagnoli), a bit at a time."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    "config", [load_config("eight-puzzle"), Config(JUMP), Config(TILES)], ids=["half", "jump", "sliding"]
)
def test_a_reader_written_from_the_page_reads_what_the_program_reads(config: Config, tmp_path: Path) -> None:
    run_puzzle(config, tmp_path / "x.zarr")
    reader = Reader(tmp_path / "x.zarr")
    chunks = -(-reader.manifest["rows"] // reader.manifest["chunk_rows"])
    found = np.concatenate([depths.ravel() for depths in map(reader.chunk, range(chunks)) if depths is not None])
    reached = found[found <= reader.manifest["committed_depth"]]
    assert np.bincount(reached).tolist() == reader.manifest["layers"]
    with open_table(tmp_path / "x.zarr") as table:
        for position in [*table.antipodes(), *(table.random_position() for _ in range(20))]:
            labels = [int(label) for label in position]
            assert reader.distance(labels) == table.distance(position)
            assert reader.index(labels) == table.space.rank(position[None])[0]
        every = np.random.default_rng(0).permuted(np.repeat(table.puzzle.start_labels, 50, axis=0), axis=1)
        for position, distance in zip(every, table.get_distances(every), strict=True):
            assert reader.distance(position.tolist()) == distance
