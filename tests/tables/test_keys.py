"""Tables of keys: every distance as by brute force, whatever ends a run, and reads of every kind."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import layers
from direct_channel import DirectChannel
from every_kind import many_parts
from faults import Killed, killing
from forgetful import Forgetful
from key_puzzles import BLOCKS, PUZZLES, brute_force, config_of
from programs import Command
from stores import contents, toml

from antipodes.executors.api import Call, Handle, Key
from antipodes.puzzles.config import Config
from antipodes.tables.layers.residence import KeyResidence, Residence
from antipodes.tables.layers.temporary_files import PieceFile
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.search.shards import Shards
from antipodes.tables.store.chunks import UNREACHABLE
from antipodes.tables.table import Table, open_table
from antipodes.tables.verify import verify
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.key_partition import KeyState, with_depths
from antipodes_tasks.bfs.partition import Partition
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Packing
from antipodes_tasks.keys.ranges import KeyRanges, divided

EVERY_LAYER = RunOptions(workers=2, checkpoint_every=0)
Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module", autouse=True)
def _many_ranges() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        many_parts(patch)
        yield


@pytest.fixture(scope="module", params=PUZZLES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def whole(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of an undisturbed run."""
    store = tmp_path_factory.mktemp("whole") / "t.zarr"
    run_puzzle(config_of(name), store, RunOptions(workers=2))
    return store


@pytest.fixture(scope="module")
def table(name: str, whole: Path) -> Iterator[Table]:
    with open_table(whole, puzzle=config_of(name)) as opened:
        yield opened


def labels_of(positions: Any) -> Any:
    return np.array([list(one) for one in positions], dtype=np.uint8)


def test_positions_that_are_not_listed(table: Table) -> None:
    far = table.puzzle.start_labels[0][::-1].copy()
    far[:] = np.roll(far, 1)
    known = bytes(far) in brute_force(table.puzzle.name)
    assert (table.distances(far[np.newaxis])[0] == UNREACHABLE) is not known


def test_one_look_at_a_puzzle(monkeypatch: Patch) -> None:
    looks: list[Expansion] = []

    def look(expansion: Expansion, starts: Any) -> Any:
        looks.append(expansion)
        return divided(expansion, starts)

    monkeypatch.setattr("antipodes_tasks.spaces.keyed.divided", look)
    plan_run(PUZZLES["blocks"]().puzzle)  # the last look at a puzzle that other tests use is remembered
    assert len(looks) == 1


def test_successors_are_freed_before_the_next_ones_are_found(monkeypatch: Patch, tmp_path: Path) -> None:
    """A plan counts their memory once."""
    find, kept = KeyResidence._find, dict[int, bool]()

    def found(residence: KeyResidence, depth: int, *arguments: Any) -> dict[int, int]:
        kept[depth] = residence._is_offered(depth - 1)
        return find(residence, depth, *arguments)

    monkeypatch.setattr(KeyResidence, "_find", found)
    run_puzzle(config_of("blocks"), tmp_path / "t.zarr", RunOptions(workers=1))
    assert len(kept) > 2
    assert not any(kept.values())


def forged(wrong: str, monkeypatch: Patch) -> None:
    """Let a search of tiles find a position too many, one too few, or one too late."""
    config = config_of("tiles")
    expected, packing = brute_force("tiles"), Packing.of(config.puzzle.rules)
    middle = max(expected.values()) // 2
    dropped = next(one for one, depth in expected.items() if depth == middle)
    unreachable = config.puzzle.start_labels[0].copy()
    unreachable[[0, 1]] = unreachable[[1, 0]]
    key = int(packing.pack(labels_of([unreachable if wrong == "many" else dropped]))[0])
    advance = KeyState.advance

    def search(state: KeyState, depth: int, arrived: Sequence[Any], log: Any) -> int:
        owns = [chunk for chunk, keys in enumerate(np.array([0, *state._ranges.bounds])) if keys <= key][-1]
        mine = owns in state.chunks
        if wrong == "few":
            found = [one.keys_of_ranges(state.chunks) for one in arrived]
            arrived = [state._as_set(keys[keys != key]) for keys in found]
        if mine and wrong == "many" and depth == 3:
            arrived = [*arrived, state._as_set(np.array([key], dtype=np.uint64))]
        return advance(state, depth, arrived, log)

    def listed(segments: Any, words: int) -> Any:
        keys, depths = with_depths(segments, words)
        one, other = (np.flatnonzero(depths == depth)[:1] for depth in (middle, middle + 1))
        if len(one) and len(other):
            depths[[*one, *other]] = depths[[*other, *one]]
        return keys, depths

    if wrong == "late":
        monkeypatch.setattr("antipodes.tables.layers.key_assembly.with_depths", listed)
    else:
        monkeypatch.setattr(KeyState, "advance", search)


@pytest.mark.parametrize(
    ("wrong", "kinds"),
    [
        ("many", ["not reachable in the number of moves in the table", "depth 3: the table has"]),
        ("few", ["a depth that differs from the number of moves"]),
        (
            "late",
            ["a depth that differs from the number of moves", "not reachable in the number of moves in the table"],
        ),
    ],
)
def test_verify_finds_positions_that_do_not_belong(
    wrong: str, kinds: list[str], tmp_path: Path, monkeypatch: Patch
) -> None:
    """All digests are right: such a table is only found wrong by its moves."""
    monkeypatch.setattr("antipodes.tables.check_keys.SAMPLE", (1, 1))
    monkeypatch.setattr("antipodes.tables.store.table_manifest.KEY_CHUNK", 400)
    with monkeypatch.context() as patch:
        forged(wrong, patch)
        run_puzzle(config_of("tiles"), tmp_path / "t.zarr", RunOptions(workers=1))
    verdict = verify(tmp_path / "t.zarr", puzzle=config_of("tiles"), seed=1)
    assert not verdict.ok
    for kind in kinds:
        assert kind in str(verdict)


def test_a_long_chain_of_moves_that_cannot_be_undone() -> None:
    """What was seen is a logarithmic number of runs."""
    state = KeyState(Partition(0, 0, 1), KeyRanges(1, (), one_way=True), 1)
    state.begin(np.array([0], dtype=np.uint64), None)
    for depth in range(1, 1000):
        again = [np.array([depth - 1, depth], dtype=np.uint64), np.arange(0, depth, 7, dtype=np.uint64)]
        assert state.advance(depth, [state._as_set(keys) for keys in again], None) == 1
    assert sum(one.count for one in state._seen) == 1000
    assert len(state._seen) <= 10


@pytest.fixture
def tight(name: str, monkeypatch: Patch) -> RunOptions:
    """Options with as little memory as a run needs: all layers are on disk, and all that moves lead to."""
    monkeypatch.setattr("antipodes_tasks.bfs.key_partition.EXPANDED", 5)
    monkeypatch.setattr("antipodes_tasks.bfs.key_partition.FOUND", 90)
    least = plan_run(config_of(name).puzzle, 2).min_bytes
    return RunOptions(workers=2, memory_limit=least, checkpoint_every=1e9)


@pytest.mark.parametrize(
    "name",
    ["one-way", *(pytest.param(name, marks=pytest.mark.slow) for name in ("wide", "blocks"))],
    indirect=True,
)
def test_in_pieces_on_disk(name: str, whole: Path, tight: RunOptions, tmp_path: Path, monkeypatch: Patch) -> None:
    """The same table, and nothing is left of the pieces; also of a search for counts only, and of a check."""
    reads: list[int] = []
    read = PieceFile.read
    monkeypatch.setattr(PieceFile, "read", lambda file, *place: reads.append(place[0]) or read(file, *place))
    run_puzzle(config_of(name), tmp_path / "t.zarr", tight)
    assert len(reads) > len(brute_force(name)) // 100
    assert contents(tmp_path / "t.zarr") == contents(whole)
    counted = run_puzzle(config_of(name), tmp_path / "c.zarr", replace(tight, counts_only=True))
    assert counted.layers == layers(brute_force(name))
    assert verify(whole, puzzle=config_of(name), memory_limit=tight.memory_limit).problems == ()


@pytest.mark.parametrize(
    ("name", "call", "at"),
    [
        ("one-way", "read", 100),
        pytest.param("blocks", "put", 200, marks=pytest.mark.slow),
    ],
    indirect=["name"],
)
def test_killed_with_pieces_on_disk(
    call: str, at: int, name: str, whole: Path, tight: RunOptions, tmp_path: Path, monkeypatch: Patch
) -> None:
    store, options = tmp_path / "t.zarr", replace(tight, checkpoint_every=0)
    with monkeypatch.context() as patch:
        patch.setattr(PieceFile, call, killing(getattr(PieceFile, call), at, True))
        with pytest.raises(Killed):
            run_puzzle(config_of(name), store, options)
    run_puzzle(config_of(name), store, options)
    assert contents(store) == contents(whole)


@pytest.mark.parametrize("name", ["blocks"], indirect=True)
def test_a_full_disk(
    name: str, whole: Path, tight: RunOptions, cli: Command, tmp_path: Path, monkeypatch: Patch
) -> None:
    """One line, and the run resumes when there is room."""
    (tmp_path / "p.toml").write_text(toml(BLOCKS))
    run = "run", tmp_path / "p.toml", "--store", tmp_path / "t.zarr", "--quiet", "--checkpoint-every", "0"
    full = partial(Path("/dev/full").open, "r+b")
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.TemporaryFile", lambda dir, buffering: full(buffering=buffering))
        outcome = cli(*run, "--memory-limit", tight.memory_limit)
    assert outcome.status == 1
    assert f"cannot write a temporary file in {tmp_path / 't.zarr'}: No space left on device" in outcome.err
    assert outcome.err.count("\n") == 1
    assert cli(*run).status == 0
    assert contents(tmp_path / "t.zarr") == contents(whole)


@pytest.mark.parametrize(
    ("name", "every", "call"), [("blocks", 1e9, 9), ("one-way", 0.0, 9), ("one-way", 1e9, 0)], indirect=["name"]
)
def test_workers_that_share_no_memory(name: str, call: int, every: float, whole: Path, tmp_path: Path) -> None:
    """Successors are sent to their owners; where a worker is lost at a call, the others go back."""
    options = RunOptions(workers=2, checkpoint_every=every)
    report = run_puzzle(config_of(name), tmp_path / "t.zarr", options, scheduler=Forgetful({call}))
    assert report.complete
    assert report.workers_lost == (call > 0)
    assert contents(tmp_path / "t.zarr") == contents(whole)


class Watched(DirectChannel):
    """A channel that counts what is asked and answered."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        """Bytes of all questions."""
        self.keys: Counter[int] = Counter()
        """The number of keys that are sent, by depth."""

    def answer(self, name: str, address: str, question: Any) -> Any:
        found = super().answer(name, address, question)
        self.asked += len(str(question))
        if found is not True:
            self.keys[question["depth"]] += sum(keys.count for one in found for keys in one.found)
        return found


class Counting(Forgetful):
    """Two workers that lose nothing, and what the tasks of each call are."""

    def __init__(self) -> None:
        super().__init__({})
        self.channel = self.watched = Watched()
        self.tasks: list[int] = []
        """The number of tasks that find each layer."""
        self.started: list[Call] = []

    def on_worker_start(self, call: Call) -> None:
        self.started.append(call)

    def persist(self, calls: Mapping[Key, Call], *others: Any) -> dict[Key, Handle]:
        if any(function is Residence.advance for function, *_ in calls.values()):
            self.tasks.append(len(calls))
        return super().persist(calls, *others)


@pytest.mark.parametrize("name", ["one-way"], indirect=True)
def test_what_a_layer_sends(name: str, whole: Path, tmp_path: Path) -> None:
    """One task for each worker, questions of some hundred bytes, and no key but those that moves lead to: nothing of
    what was seen, and no rules.
    """
    scheduler = Counting()
    report = run_puzzle(
        config_of(name), tmp_path / "t.zarr", RunOptions(workers=2, checkpoint_every=0), scheduler=scheduler
    )
    moves = len(config_of(name).puzzle.moves)
    assert scheduler.tasks == [2] * len(report.layers)
    assert scheduler.watched.asked < 4 * 1000 * len(report.layers)
    assert all(scheduler.watched.keys[depth] <= moves * positions for depth, positions in enumerate(report.layers))
    assert sum(scheduler.watched.keys.values()) > 0
    assert [function.__module__ for function, *_ in scheduler.started] == [KeyState.__module__]
    assert contents(tmp_path / "t.zarr") == contents(whole)


def test_workers_share_out_all_depths(tmp_path: Path) -> None:
    """Most positions of a layer are in few ranges, so each worker has ranges from one end of the keys to the other."""
    scheduler = Counting()
    found: list[tuple[int, int]] = []
    advanced = Shards.advance

    def noted(shards: Shards, *arguments: Any) -> list[int]:
        counts = advanced(shards, *arguments)
        even, odd = (sum(shards.counts[number] for number in group) for group in shards._processes.values())
        found.append((max(even, odd), even + odd))
        return counts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shards, "advance", noted)
        run_puzzle(config_of("tiles"), tmp_path / "t.zarr", RunOptions(workers=2), scheduler=scheduler)
    most, positions = np.sum(found, axis=0)
    assert most < 0.65 * positions


@pytest.mark.parametrize("name", ["wide"], indirect=True)
def test_damage_gives_no_wrong_answer(name: str, whole: Path, tmp_path: Path) -> None:
    """Whichever bit of whichever file is flipped, a query answers as before or names what is damaged."""
    files, rng = contents(whole), np.random.default_rng(7)
    arrays = sorted(path for path in files if path.startswith(("keys/c", "depth/c", "first_keys/c")))
    expected, found = brute_force(name), 0
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    for path in rng.choice(arrays, 12):
        at, bit = rng.integers(len(files[path])), 1 << rng.integers(8)
        damaged = bytearray(files[path])
        damaged[at] ^= bit
        (tmp_path / path).write_bytes(damaged)
        with open_table(tmp_path, puzzle=config_of(name)) as table:
            for some in np.array_split(labels_of(expected), 5):
                try:
                    distances = table.distances(some)
                except StoreDamagedError as error:
                    found += path.split("/")[0] in str(error)
                else:
                    assert distances.tolist() == [expected[bytes(one)] for one in some]
        (tmp_path / path).write_bytes(files[path])
    assert found >= 12


@pytest.mark.parametrize("counts_only", [False, True])
def test_a_puzzle_without_any_move(counts_only: bool, tmp_path: Path) -> None:
    config = Config({"name": "stuck", "family": "blocks", "start": "AA#./AA##"})
    report = run_puzzle(config, tmp_path / "t.zarr", replace(EVERY_LAYER, counts_only=counts_only))
    assert report.layers == [1]
    if not counts_only:
        assert verify(tmp_path / "t.zarr").ok
