"""Journal files: what was put is found again, and any byte that changed is noticed."""

import hashlib
import pickle
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from journals import files, journal_at

from antipodes.tables.journal import Journal, JournalDamagedError
from antipodes.tables.journal_file import ENTRY, MAGIC, PREFIX_BYTES, Cover, FileIndex, StoredSegments, entries_of, head
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.bitmaps import words
from antipodes_tasks.bfs.segments import Segment, SegmentLog

WIDTH, ROWS = 70, 3
COVERS = [Cover(0, 2, 0, 3), Cover(2, 5, 0, 3)]


def log_of(chunks: range, depths: range, seed: int = 1) -> SegmentLog:
    """A segment of random positions of each chunk at each depth, sparse ones and dense ones."""
    rng, log = np.random.default_rng(seed), SegmentLog()
    for depth in depths:
        for chunk in chunks:
            flags = np.zeros((ROWS, words(WIDTH) * 64), dtype=bool)
            flags[:, :WIDTH] = rng.random((ROWS, WIDTH)) < rng.choice([0.02, 0.6])
            flags[0, 0] = True
            bits = np.packbits(flags, axis=1, bitorder="little").view(np.uint64)
            log.add(chunk, depth, bits, WIDTH, int(flags.sum()))
    return log


def logs() -> list[SegmentLog]:
    return [log_of(range(cover.first_chunk, cover.end_chunk), range(cover.last_depth + 1)) for cover in COVERS]


def all_of(log: SegmentLog) -> list[tuple[object, ...]]:
    return sorted(comparable(one) for one in log.segments)


def comparable(one: Segment) -> tuple[object, ...]:
    return (*one[:4], one.data.tobytes())


def read_all(journal: Journal, stored: StoredSegments) -> list[tuple[object, ...]]:
    return sorted(comparable(one) for one in journal.segments(stored, stored.entries))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return journal_at(tmp_path)


def test_what_is_put_is_found(journal: Journal) -> None:
    written = logs()
    key, indices = journal.put(COVERS, written, None, durable=True)
    stored = journal.load(0, 5)
    assert stored.files == (key,)
    assert stored.known.tolist() == [3] * 5
    assert read_all(journal, stored) == sorted(all_of(written[0]) + all_of(written[1]))
    for cover, index, log in zip(COVERS, indices, written, strict=True):
        here = StoredSegments.empty(cover.first_chunk, cover.end_chunk).with_files([(key, index)])
        assert read_all(journal, here) == all_of(log)
        loaded = journal.load(cover.first_chunk, cover.end_chunk)
        assert np.array_equal(here.entries, loaded.entries)
        assert np.array_equal(here.known, loaded.known)


def test_the_same_content_has_the_same_name_and_bytes(journal: Journal, tmp_path: Path) -> None:
    key, _ = journal.put(COVERS, logs(), None, durable=True)
    before = (tmp_path / key).read_bytes()
    assert journal.put(COVERS, logs(), None, durable=False)[0] == key
    assert [path.read_bytes() for path in files(tmp_path)] == [before]
    assert key.startswith("journal/0-5-3-")
    other = [log_of(range(2), range(4), 2), logs()[1]]
    assert journal.put(COVERS, other, None, durable=True)[0] != key


def test_covers_without_any_segment(journal: Journal) -> None:
    journal.put([Cover(0, 5, 0, 3)], [SegmentLog()], None, durable=True)
    stored = journal.load(0, 5)
    assert stored.known.tolist() == [3] * 5
    assert (len(stored.entries), read_all(journal, stored)) == (0, [])
    assert stored.counts(4).tolist() == [[0] * 4] * 5


def test_files_of_other_chunks_are_not_read(journal: Journal, tmp_path: Path) -> None:
    journal.put([Cover(0, 2, 0, 3)], [log_of(range(2), range(4))], None, durable=True)
    (path,) = files(tmp_path)
    path.write_bytes(b"damaged")
    damaged: list[str] = []
    assert journal.load(2, 5, damaged).known.tolist() == [-1] * 3
    assert damaged == []


def test_files_of_any_name_are_read(journal: Journal, tmp_path: Path) -> None:
    key, _ = journal.put(COVERS, logs(), None, durable=True)
    (tmp_path / key).rename(tmp_path / "journal" / "copied")
    assert journal.load(3, 4).known.tolist() == [3]


def test_a_file_of_another_table_is_refused(journal: Journal, tmp_path: Path) -> None:
    journal.put(COVERS, logs(), None, durable=True)
    damaged: list[str] = []
    stored = Journal(journal.storage, "another", 100, 1 << 20).load(0, 5, damaged)
    assert stored.known.tolist() == [-1] * 5
    assert damaged == [f"{files(tmp_path)[0]} is corrupt: it belongs to another table"]


def test_every_byte_counts(journal: Journal, tmp_path: Path) -> None:
    """Of a file with one byte changed, missing or added, no wrong segment is read."""
    key, (index,) = journal.put([Cover(0, 2, 0, 1)], [log_of(range(2), range(2))], None, durable=True)
    path = tmp_path / key
    content = path.read_bytes()
    expected = set(read_all(journal, journal.load(0, 2)))
    assert len(content) > index.begin
    for at in range(0, len(content), 5):
        for number, changed in enumerate((content[:at], content[:at] + b"?" + content[at:], flipped(content, at))):
            path.write_bytes(changed)
            damaged: list[str] = []
            stored = journal.load(0, 2, damaged)
            if number == 2 and at >= index.begin:
                assert not damaged
                with pytest.raises(JournalDamagedError, match=r"the digest of chunk \d at depth \d") as caught:
                    read_all(journal, stored)
                assert caught.value.key == key
                assert intact(journal, stored) < expected, at
            else:
                assert stored.known.tolist() == [-1, -1], at
                assert len(damaged) == 1, at
                assert "is corrupt" in damaged[0]


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :]


def intact(journal: Journal, stored: StoredSegments) -> set[tuple[object, ...]]:
    """The segments that can be read."""
    found = set()
    for entry in np.split(stored.entries, len(stored.entries)):
        with suppress(JournalDamagedError):
            found |= {comparable(one) for one in journal.segments(stored, entry)}
    return found


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 10**12])
def test_a_header_of_any_length_is_only_damage(length: int, journal: Journal, tmp_path: Path) -> None:
    key, _ = journal.put(COVERS, logs(), None, durable=True)
    content = (tmp_path / key).read_bytes()
    (tmp_path / key).write_bytes(content[: PREFIX_BYTES - 8] + length.to_bytes(8, "little") + content[PREFIX_BYTES:])
    damaged: list[str] = []
    assert journal.load(0, 5, damaged).known.tolist() == [-1] * 5
    assert len(damaged) == 1


def test_a_file_that_vanishes_is_missing(journal: Journal, tmp_path: Path) -> None:
    journal.put(COVERS, logs(), None, durable=True)
    stored = journal.load(0, 5)
    shutil.rmtree(tmp_path / "journal")
    with pytest.raises(JournalDamagedError, match="is missing") as caught:
        read_all(journal, stored)
    assert caught.value.key is None
    assert journal.load(0, 5).known.tolist() == [-1] * 5


def test_the_same_segments_in_two_files_count_once(journal: Journal) -> None:
    """As after damage, from which a run has gone back and found the segments again."""
    written = log_of(range(2), range(4))
    journal.put([Cover(0, 2, 0, 3)], [written], None, durable=True)
    journal.put([Cover(0, 2, 0, 3), Cover(9, 10, 0, 0)], [written, SegmentLog()], None, durable=True)
    stored = journal.load(0, 2)
    assert len(stored.files) == 2
    assert read_all(journal, stored) == all_of(written)
    assert stored.counts(4).sum() == sum(one.positions for one in written.segments)


def test_chunks_of_which_depths_are_missing(journal: Journal, tmp_path: Path) -> None:
    journal.put([Cover(0, 3, 0, 3), Cover(3, 5, 0, 2)], [SegmentLog(), SegmentLog()], None, durable=True)
    journal.check_known(journal.load(0, 5), 2)
    with pytest.raises(JournalDamagedError, match=rf"{tmp_path}/journal is corrupt: .* of chunk 3 are missing"):
        journal.check_known(journal.load(2, 5), 3)


def test_deleting(journal: Journal, tmp_path: Path) -> None:
    first, _ = journal.put([Cover(0, 2, 0, 0)], [log_of(range(2), range(1))], None, durable=True)
    second, _ = journal.put([Cover(0, 2, 1, 1)], [log_of(range(2), range(1, 2))], None, durable=True)
    journal.delete([first])
    assert [path.name for path in files(tmp_path)] == [second.rpartition("/")[2]]
    journal.delete()
    assert not (tmp_path / "journal").exists()


def test_segments_that_lie_apart_are_read_in_pieces(journal: Journal) -> None:
    written = log_of(range(5), range(6))
    journal.put([Cover(0, 5, 0, 5)], [written], None, durable=True)
    stored = journal.load(0, 5)
    some = np.sort(stored.entries, order="offset")[::3]
    for pieces, limits in ((len(some), (1 << 20, 0)), (1, (1 << 20, 1 << 10)), (len(some), (1, 1 << 10))):
        read = list(journal.pieces(stored, some, *limits))
        assert len(read) == pieces
        assert [(one.chunk, one.depth) for piece in read for one in piece] == some[["chunk", "depth"]].tolist()
    assert list(journal.segments(stored, stored.entries[:0])) == []


covers = st.tuples(st.integers(0, 5), st.integers(1, 6), st.integers(0, 6), st.integers(0, 6)).filter(
    lambda cover: cover[0] < cover[1] and cover[2] <= cover[3]
)


@given(st.lists(covers, max_size=6), st.integers(0, 3), st.integers(1, 3))
def test_the_known_depth_is_that_without_a_gap(found: list[tuple[int, ...]], first: int, count: int) -> None:
    indices = [(str(at), FileIndex((Cover(*one),), np.empty(0, dtype=ENTRY), 0)) for at, one in enumerate(found)]
    together = StoredSegments.empty(first, first + count).with_files(indices)
    for chunk in range(first, first + count):
        depths = {at for one in found if one[0] <= chunk < one[1] for at in range(one[2], one[3] + 1)}
        expected = next(depth for depth in range(-1, 8) if depth + 1 not in depths)
        assert together.known[chunk - first] == expected, chunk


@given(st.lists(covers, max_size=4), st.integers(0, 7))
def test_before_a_depth_less_is_known(found: list[tuple[int, ...]], depth: int) -> None:
    indices = [(str(at), FileIndex((Cover(*one),), np.empty(0, dtype=ENTRY), 0)) for at, one in enumerate(found)]
    stored = StoredSegments.empty(0, 6).with_files(indices)
    assert stored.segments_before(depth).known.tolist() == [min(known, depth - 1) for known in stored.known.tolist()]


def test_parts_and_counts(journal: Journal) -> None:
    written = log_of(range(5), range(4))
    journal.put([Cover(0, 5, 0, 3)], [written], None, durable=True)
    stored = journal.load(0, 5)
    counts = np.zeros((5, 4), dtype=np.int64)
    for one in written.segments:
        counts[one.chunk, one.depth] = one.positions
    assert np.array_equal(stored.counts(4), counts)
    assert np.array_equal(stored.counts(2), counts[:, :2])
    assert np.array_equal(stored.segments_before(2).counts(4)[:, :2], counts[:, :2])
    assert not stored.segments_before(2).counts(4)[:, 2:].any()
    part = stored.part(2, 4)
    assert (part.first_chunk, part.end_chunk, part.known.tolist()) == (2, 4, [3, 3])
    assert np.array_equal(part.counts(4), counts[2:4])
    assert set(read_all(journal, part)) <= set(read_all(journal, stored))


def test_errors_of_segments_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(JournalDamagedError("what was said", "journal/a")))
    assert (str(error), error.key, isinstance(error, StoreDamagedError)) == ("what was said", "journal/a", True)


@pytest.mark.parametrize(
    "covers",
    [None, 5, "x", {}, [5], [[0, 2]], [[0, 2, 0, "1"]], [[0, 2, 0, 1.5]], [[0, 2, 0, True]], [[-1, 2, 0, 1]],
     [[2, 0, 0, 1]], [[0, 2**40, 0, 1]], [[0, 2, 0, 2**40]], [[0, 2, -5, 1]], [[0, 2, 0, 1, 1]], [[[0], 2, 0, 1]]],
)  # fmt: skip
def test_forged_covers_are_refused(covers: Any, journal: Journal, tmp_path: Path) -> None:
    """Their digest is right."""
    written = log_of(range(2), range(2))
    entries = entries_of(journal.identity, written.segments, 0)
    forge(tmp_path, head(journal.identity, covers, entries), written)
    damaged: list[str] = []
    assert journal.load(0, 2, damaged).known.tolist() == [-1, -1]
    assert damaged == [f"{tmp_path}/journal/forged is corrupt: its header is not valid"]


@pytest.mark.parametrize("header", ["[]", "{}", '{"segments": 4}', '{"segments": "x"}', '{"segments": 1e999}', "5"])
def test_forged_headers_are_refused(header: str, journal: Journal, tmp_path: Path) -> None:
    written = log_of(range(2), range(2))
    entries = entries_of(journal.identity, written.segments, 0).tobytes()
    content = MAGIC + len(header).to_bytes(8, "little") + header.encode() + entries
    forge(tmp_path, content + hashlib.sha256(content).digest()[:8], written)
    damaged: list[str] = []
    assert journal.load(0, 2, damaged).known.tolist() == [-1, -1]
    assert len(damaged) == 1


@pytest.mark.parametrize(("field", "value"), [("offset", 2**64 - 1), ("offset", 7), ("count", 2**32 - 1)])
def test_forged_entries_are_refused(field: str, value: int, journal: Journal, tmp_path: Path) -> None:
    """Neither are bytes read elsewhere, nor is memory taken for positions that cannot be there."""
    written = log_of(range(2), range(2))
    entries = entries_of(journal.identity, written.segments, 0)
    entries[field][1] = value
    forge(tmp_path, head(journal.identity, [Cover(0, 2, 0, 1)], entries), written)
    damaged: list[str] = []
    assert journal.load(0, 2, damaged).known.tolist() == [-1, -1]
    assert damaged == [f"{tmp_path}/journal/forged is corrupt: its index does not match its segments"]


def forge(folder: Path, before: bytes, log: SegmentLog) -> None:
    (folder / "journal").mkdir()
    (folder / "journal" / "forged").write_bytes(before + b"".join(one.data.tobytes() for one in log.segments))
