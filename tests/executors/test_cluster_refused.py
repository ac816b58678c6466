"""Workers that a run excludes: messages name them and what they lack; nothing is computed or overwritten."""

from collections.abc import Callable
from pathlib import Path

import pytest
from clusters import NO_ANTIPODES, Cluster, python_path, with_other
from mounts import hidden
from program_runs import EVERY_LAYER, Begin, Same
from stores import contents

ByThreads = Callable[[str], dict[str, bytes]]


@pytest.mark.slow
@pytest.mark.parametrize(("package", "what"), [("antipodes", ["run", "eight-puzzle"]), ("numpy", ["tile", "3x20"])])
def test_a_first_worker_with_another_version_ends_the_run(
    package: str, what: list[str], cluster: Cluster, begin: Begin, tmp_path: Path
) -> None:
    cluster.add_workers(1, environment=with_other(package, tmp_path / "site"))
    run = begin(*what, "--store", "t.zarr", "--scheduler", cluster.address)
    run.fail(1, "worker tcp://", f"has {package} 0.0.1; expected {package} ")
    assert not (tmp_path / "t.zarr").exists()


@pytest.mark.slow
def test_a_late_worker_with_another_version_is_excluded(
    cluster: Cluster, begin: Begin, same: Same, tmp_path: Path
) -> None:
    (first,) = cluster.add_workers(1)
    at = ["--scheduler", cluster.address, *EVERY_LAYER, "--json"]
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at)
    run.wait_for_depth(2)
    first.stop()
    cluster.add_workers(1, examined=True, environment=with_other("antipodes", tmp_path / "site"))
    first.thaw()
    run.wait_for("has antipodes 0.0.1; expected antipodes ")
    assert "excluded" in run.err
    run.finish()
    assert "2 workers" not in run.err
    same("eight-puzzle")


@pytest.mark.slow
def test_a_worker_without_antipodes_ends_the_run(cluster: Cluster, begin: Begin, tmp_path: Path) -> None:
    cluster.add_workers(1, environment=python_path(tmp_path / "site", sitecustomize=NO_ANTIPODES))
    run = begin("run", "eight-puzzle", "--store", "t.zarr", "--scheduler", cluster.address)
    run.fail(1, "worker tcp://", "cannot load antipodes")
    assert not (tmp_path / "t.zarr").exists()


@pytest.fixture
def elsewhere(tmp_path: Path) -> tuple[object, ...]:
    """The start of a command to whose process the folder ``work`` is empty."""
    return hidden(tmp_path / "work")


@pytest.mark.slow
def test_a_store_is_not_overwritten_if_a_worker_does_not_see_it(
    elsewhere: tuple[object, ...], cluster: Cluster, begin: Begin, by_threads: ByThreads, tmp_path: Path
) -> None:
    begin("run", "eight-puzzle", "--store", "work/t.zarr", "--workers", 2, "--json").finish()
    before = contents(tmp_path / "work" / "t.zarr")
    cluster.add_workers(1)
    cluster.add_workers(1, prefix=elsewhere)
    run = begin("run", "eight-puzzle", "--store", "work/t.zarr", "--overwrite", "--scheduler", cluster.address)
    run.fail(1, "worker tcp://", str(tmp_path / "work" / "t.zarr"))
    assert contents(tmp_path / "work" / "t.zarr").keys() <= before.keys()
