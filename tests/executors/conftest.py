from collections.abc import Iterator

import pytest
from clusters import Cluster
from distributed import Client, LocalCluster
from waiting import PATIENCE

from antipodes.executors.api import never_stop
from antipodes.executors.distributed import connection, version_check
from antipodes.executors.distributed.cluster import Cluster as Members
from antipodes.system.events import silence


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of a busy machine count as members although they answer late; tests that wait for a limit shorten it."""
    monkeypatch.setattr(version_check, "VERSIONS_SECONDS", PATIENCE)
    monkeypatch.setattr(connection, "NOTICE_SECONDS", PATIENCE)


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Client]:
    """A client of the test's own cluster."""
    with cluster.client() as opened:
        yield opened


@pytest.fixture
def thread_workers() -> Iterator[LocalCluster]:
    """A scheduler and two workers that are threads of this process, and talk over TCP."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=None, silence_logs=60
    ) as started:
        yield started


@pytest.fixture
def members(workers: LocalCluster) -> Iterator[Members]:
    """The workers as a run sees them; `workers` is the fixture of the test's module, with the limits that it needs."""
    with Client(workers, set_as_default=False) as opened, Members(opened) as found:
        assert found.wait_for_workers(silence, never_stop)
        yield found
