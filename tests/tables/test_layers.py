from pathlib import Path
from typing import Any

import pytest
from stores import contents

from antipodes.config import load_config
from antipodes.events import Assembling, Committed, Event, LayerSettled, PartitionSettled, SearchStarted
from antipodes.storage.manifest import ManifestFile
from antipodes.tables.planning.plan import Plan, plan_run
from antipodes.tables.run import RunOptions, resume, run_puzzle
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.stores import TableStore
from antipodes_tasks.errors import StoreError


def events_of(store: Path, **options: float) -> list[Event]:
    events: list[Event] = []
    run_puzzle(load_config("knights-coloured"), store, RunOptions(workers=2, **options), events.append)  # type: ignore[arg-type]
    return events


def test_events_of_a_run(tmp_path: Path) -> None:
    events = events_of(tmp_path / "t.zarr")
    started = [event for event in events if isinstance(event, SearchStarted)]
    settled = [event for event in events if isinstance(event, LayerSettled)]
    assert started == [SearchStarted("knights-coloured", 18480, 0, 1, False, reachable=18480)]
    assert [event.depth for event in settled] == list(range(1, 23))
    assert settled[-1].states == 18480
    assert all(event.rate > 0 for event in settled)
    assert not [event for event in events if isinstance(event, Committed)], "nothing is due before the end"
    assert events[-1] == Assembling(18480, 18480)
    partitions = [event for event in events if isinstance(event, PartitionSettled) and event.depth == 3]
    assert [event.settled for event in partitions] == list(range(1, partitions[0].partitions + 1))


def test_every_layer_is_committed(tmp_path: Path) -> None:
    events = events_of(tmp_path / "t.zarr", checkpoint_every=0)
    assert sorted({event.depth for event in events if isinstance(event, Committed)}) == list(range(23))


@pytest.mark.parametrize("failing", range(0, 40, 3))
def test_a_failed_write_loses_no_commit(failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, store = load_config("knights-coloured"), tmp_path / "t.zarr"
    run_puzzle(config, tmp_path / "whole.zarr")
    write_manifest = ManifestFile.write
    committed: list[int] = []

    def write(self: ManifestFile, manifest: TableManifest) -> None:
        if len(committed) == failing:
            raise StoreError("cannot write")
        write_manifest(self, manifest)
        committed.append(manifest.committed_depth)

    with monkeypatch.context() as patch:
        patch.setattr(ManifestFile, "write", write)
        try:
            run_puzzle(config, store, RunOptions(workers=2, checkpoint_every=0))
        except StoreError:
            assert len(committed) == failing
    if failing > 0:
        manifest: TableManifest = TableStore(store).read()
        assert manifest.committed_depth == committed[-1]
    report = resume(store) if failing > 0 else run_puzzle(config, store)
    assert report.resumed_from == (committed[-1] if committed and committed[-1] >= 0 else None)
    assert contents(store) == contents(tmp_path / "whole.zarr")


def test_interrupted_between_layers(tmp_path: Path) -> None:
    asked = []

    def interrupted() -> bool:
        asked.append(True)
        return len(asked) == 6

    report = run_puzzle(load_config("knights-coloured"), tmp_path / "t.zarr", interrupted=interrupted)
    assert not report.complete
    assert report.manifest.committed_depth == 5
    assert report.to_json()["antipodes"] is None


def test_the_phases_of_a_run_are_timed(tmp_path: Path) -> None:
    report = run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr")
    seconds = report.to_json()["seconds"]
    assert all(seconds[phase] > 0 for phase in ("total", "tables", "search", "write"))
    assert seconds["tables"] + seconds["search"] + seconds["write"] <= seconds["total"]


def test_a_fresh_run_plans_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []

    def planned(*arguments: Any, **options: Any) -> Plan:
        plans.append(plan_run(*arguments, **options))
        return plans[-1]

    monkeypatch.setattr("antipodes.tables.planning.plan.plan_run", planned)
    run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr")
    assert len(plans) == 1
