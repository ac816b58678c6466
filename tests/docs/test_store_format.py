"""The page on the store format is enough to read a table: a reader is written from it alone."""

import base64
import binascii
import hashlib
import itertools
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numcodecs import blosc

from antipodes.puzzles.config import Config, load_config
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import open_table

JUMP = {"name": "labelled", "family": "jump", "moves": "knight", "start": "AB#/---/#CD"}
TILES = {"name": "tiles", "family": "sliding", "rows": 2, "columns": 4, "start": "1 1 2 2 / 3 3 3 0"}


class Reader:
    """A table, read as docs/reference/store-format.md and docs/explanation/index-of-positions.md say."""

    def __init__(self, store: Path) -> None:
        self.store = store
        text = (store / "commit.json").read_text(encoding="utf-8")
        manifest = self.manifest = json.loads(text)
        assert (manifest["format"], manifest["version"]) == ("antipodes-table", 7)
        assert json.dumps(manifest, indent=1, ensure_ascii=False) + "\n" == text
        unsigned = {key: value for key, value in manifest.items() if key != "checksum"}
        canonical = json.dumps(unsigned, ensure_ascii=False).encode()
        assert hashlib.sha256(canonical).hexdigest() == manifest["checksum"]
        listed = json.loads((store / "zarr.json").read_text())["consolidated_metadata"]["metadata"]
        assert listed == {
            name: json.loads((store / name / "zarr.json").read_text())
            for name in ("depth", "layer_counts")
            if manifest["complete"]
        }
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

    def rows(self, chunk: int) -> int:
        """The number of rows of a chunk."""
        return int(min(self.manifest["chunk_rows"], self.manifest["rows"] - chunk * self.manifest["chunk_rows"]))

    def chunk(self, number: int) -> Any:
        """The depths of a chunk, -1 for positions that are not reached."""
        if not self.manifest["complete"]:
            return self.decoded(number)
        if not any(base64.b64decode(self.manifest["chunks"])[8 * number : 8 * number + 8]):
            return np.full((self.rows(number), self.manifest["width"]), -1)
        rows, width = self.manifest["chunk_rows"], self.manifest["width"]
        stored = self.stored("depth", "chunks", number, (rows, width), self.rows(number))
        return np.where(stored == np.iinfo(stored.dtype).max, -1, stored.astype(int))

    def layer_counts(self) -> Any:
        """The number of positions of each chunk at each depth."""
        chunks = -(-self.manifest["rows"] // self.manifest["chunk_rows"])
        shape = min(chunks, 4096), len(self.manifest["layers"])
        parts = [
            self.stored("layer_counts", "layer_counts", number, shape, min(4096, chunks - 4096 * number))
            for number in range(-(-chunks // 4096))
        ]
        return np.concatenate(parts)

    def stored(self, array: str, digests: str, number: int, shape: tuple[int, int], rows: int) -> Any:
        """The first rows of a chunk of an array."""
        key, dtype = f"{array}/c/{number}/0", json.loads((self.store / array / "zarr.json").read_text())["data_type"]
        stored = (self.store / key).read_bytes()
        assert crc32c(stored[:-4]) == int.from_bytes(stored[-4:], "little")
        content = np.frombuffer(blosc.decompress(stored[:-4]), np.dtype(dtype).newbyteorder("<")).reshape(shape)[:rows]
        digest = hashlib.sha256(f"{self.identity()} {key}\n".encode() + content.tobytes()).digest()[:8]
        assert digest == base64.b64decode(self.manifest[digests])[8 * number : 8 * number + 8]
        return content

    def identity(self) -> str:
        """The table, and the numbering of its positions."""
        space = json.dumps([self.manifest["space"], self.manifest["details"]], ensure_ascii=False)
        return f"{self.manifest['fingerprint']} {hashlib.sha256(space.encode()).hexdigest()}"

    def decoded(self, chunk: int) -> Any:
        """The depths of a chunk in the journal up to the committed one."""
        width, depth = self.manifest["width"], self.manifest["committed_depth"]
        depths = np.full(self.rows(chunk) * width, -1)
        known = set()
        for path in (self.store / "journal").iterdir():
            covers, segments = self.journal_file(path)
            known |= {at for first, end, low, high in covers if first <= chunk < end for at in range(low, high + 1)}
            for of, at, kind, count, content in segments:
                if of == chunk and at <= depth:
                    positions = gaps(content) if kind == 0 else bits(content, width)
                    assert len(positions) == count
                    depths[positions] = at
        assert known >= set(range(depth + 1))
        return depths.reshape(-1, width)

    def journal_file(self, path: Path) -> tuple[list[list[int]], list[tuple[int, int, int, int, bytes]]]:
        """What a file of the journal covers, and its segments: chunk, depth, kind, number of positions, bytes."""
        content, manifest = path.read_bytes(), self.manifest
        assert content[:8] == b"antiseg2"
        end = 16 + int.from_bytes(content[8:16], "little")
        header = json.loads(content[16:end])
        identity = f"{self.identity()} {manifest['rows']} {manifest['width']} {manifest['chunk_rows']}"
        assert header["identity"] == identity
        begin = end + 32 * header["segments"] + 8
        assert hashlib.sha256(content[: begin - 8]).digest()[:8] == content[begin - 8 : begin]
        segments = []
        for entry in range(end, begin - 8, 32):
            chunk, depth, kind, count, length, offset, digest = struct.unpack("<IHHIIQQ", content[entry : entry + 32])
            one = content[begin + offset : begin + offset + length]
            assert binascii.crc32(f"{identity} {chunk} {depth}\n".encode() + one) == digest
            segments.append((chunk, depth, kind, count, one))
        return header["covers"], segments

    def distance(self, labels: list[int]) -> int | None:
        """The distance of a position from the nearest start."""
        index = self.index(labels)
        if index is None:
            return None
        row, column = divmod(index, self.manifest["width"])
        number, row_of_chunk = divmod(row, self.manifest["chunk_rows"])
        found = int(self.chunk(number)[row_of_chunk, column])
        return None if found < 0 else found


def gaps(content: bytes) -> list[int]:
    """The positions that are listed by the distances between them."""
    positions, last, number, shift = [], -1, 0, 0
    for byte in content:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            last += number
            positions.append(last)
            number = shift = 0
    return positions


def bits(content: bytes, width: int) -> list[int]:
    """The positions whose bits are set."""
    words = -(-width // 64)
    return [
        row * width + column
        for row in range(len(content) // (8 * words))
        for column in range(64 * words)
        if content[8 * words * row + column // 8] >> column % 8 & 1
    ]


def crc32c(content: bytes) -> int:
    """CRC-32C (Castagnoli), a byte at a time."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = crc >> 8 ^ CRC_OF_BYTE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def shifted(crc: int) -> int:
    """What eight bits add to a CRC, a bit at a time."""
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


CRC_OF_BYTE = [shifted(byte) for byte in range(256)]


PUZZLES = pytest.mark.parametrize(
    "config", [load_config("eight-puzzle"), Config(JUMP), Config(TILES)], ids=["half", "jump", "sliding"]
)


def all_depths(reader: Reader) -> list[Any]:
    return [reader.chunk(number) for number in range(-(-reader.manifest["rows"] // reader.manifest["chunk_rows"]))]


@PUZZLES
def test_a_reader_written_from_the_page_reads_what_the_program_reads(config: Config, tmp_path: Path) -> None:
    run_puzzle(config, tmp_path / "x.zarr")
    reader = Reader(tmp_path / "x.zarr")
    found = all_depths(reader)
    layers = reader.manifest["layers"]
    assert reader.layer_counts().tolist() == [
        np.bincount(one[one >= 0], minlength=len(layers)).tolist() for one in found
    ]
    assert reader.layer_counts().sum(axis=0).tolist() == layers
    farthest = np.flatnonzero(np.concatenate(found).ravel() == reader.manifest["committed_depth"])
    assert reader.manifest["antipodes"] == farthest[:1000].tolist()
    with open_table(tmp_path / "x.zarr") as table:
        for position in [*table.antipodes(), *(table.random_position() for _ in range(20))]:
            labels = [int(label) for label in position]
            assert reader.distance(labels) == table.distance(position)
            assert reader.index(labels) == table.space.rank(position[None])[0]
        every = np.random.default_rng(0).permuted(np.repeat(table.puzzle.start_labels, 50, axis=0), axis=1)
        for position in every:
            assert reader.distance(position.tolist()) == table.distance(position, None)


@PUZZLES
def test_the_reader_reads_the_journal_of_an_unfinished_table(config: Config, tmp_path: Path) -> None:
    asked = iter(range(1000))
    options = RunOptions(checkpoint_every=0)
    report = run_puzzle(config, tmp_path / "x.zarr", options, interrupted=lambda: next(asked) >= 3)
    assert not report.manifest.searched
    reader = Reader(tmp_path / "x.zarr")
    found = np.concatenate(all_depths(reader))
    assert np.bincount(found[found >= 0]).tolist() == reader.manifest["layers"]
    with open_table(tmp_path / "x.zarr") as table:
        for depth in range(len(reader.manifest["layers"])):
            indices = table.space.rank(table.positions_at(depth))
            assert sorted(indices.tolist()) == np.flatnonzero(found.ravel() == depth).tolist()
