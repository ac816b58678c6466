"""The dashboard, dask's report, TLS, and schedulers with other versions, as clusters.md describes them."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from clusters import Cluster
from program_runs import Run

from antipodes.executors.distributed.connection import connected, dashboard_of
from antipodes.executors.opening import as_scheduler
from antipodes_tasks.errors import InputError, SchedulerError

Begin = Callable[..., Run]


@pytest.mark.parametrize(
    ("options", "shown"), [(["--no-dashboard"], False), (["--dashboard", "--dashboard-address", ":0"], True)]
)
def test_the_dashboard_is_shown_if_there_is_one(options: list[str], shown: bool, tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.start_scheduler(*options)
        with connected(cluster.address) as client:
            assert (dashboard_of(client) or "").endswith("/status") == shown


def test_the_report_of_dask_is_written(shared: Cluster, begin: Begin, tmp_path: Path) -> None:
    where = ["--scheduler", shared.address]
    begin("run", "knights-coloured", "--performance-report", "report.html", *where, "--json").finish()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Dask Performance Report</title>" in page
    assert "advance" in page


def test_without_bokeh_there_is_no_report(idle: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with (
        connected(idle.address) as client,
        as_scheduler(client) as scheduler,
        pytest.raises(InputError, match=r"needs bokeh: pip install '\.\[dashboard\]'"),
        scheduler.performance_report("report.html"),
    ):
        pass


def test_tls_without_certificates_is_refused() -> None:
    with (
        pytest.raises(SchedulerError, match=r"no dask scheduler answers at tls://.*TLS"),
        connected("tls://127.0.0.1:1"),
    ):
        pass


def test_a_scheduler_without_the_program_is_refused(tmp_path: Path, begin: Begin) -> None:
    (tmp_path / "other" / "antipodes").mkdir(parents=True)
    (tmp_path / "other" / "antipodes" / "__init__.py").touch()
    with Cluster(tmp_path, {"PYTHONPATH": str(tmp_path / "other")}) as cluster:
        cluster.start_scheduler()
        run = begin("run", "eight-puzzle", "--scheduler", cluster.address)
        run.fail(1, f"the dask scheduler at {cluster.address} cannot load antipodes: ")


def test_a_scheduler_with_another_version_is_refused(tmp_path: Path, begin: Begin) -> None:
    claimed = tmp_path / "other" / "zarr-99.0.dist-info"
    claimed.mkdir(parents=True)
    (claimed / "METADATA").write_text("Metadata-Version: 2.1\nName: zarr\nVersion: 99.0\n", encoding="utf-8")
    with Cluster(tmp_path, {"PYTHONPATH": str(tmp_path / "other")}) as cluster:
        cluster.start_scheduler()
        run = begin("run", "eight-puzzle", "--scheduler", cluster.address)
        run.fail(1, f"the dask scheduler at {cluster.address} has zarr 99.0; expected zarr ", " as here")
