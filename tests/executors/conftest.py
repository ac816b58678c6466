from collections.abc import Iterator

import pytest
from clusters import Cluster
from distributed import Client


@pytest.fixture(scope="session")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler without workers, which no test breaks."""
    with Cluster(tmp_path_factory.mktemp("idle")) as cluster:
        cluster.start_scheduler()
        yield cluster


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two workers, one with a nanny, which no test breaks."""
    with Cluster(tmp_path_factory.mktemp("shared")) as cluster:
        cluster.start_scheduler()
        cluster.add_worker("--memory-limit", "2GB", nanny=True)
        cluster.add_worker()
        cluster.wait_for_workers(2)
        yield cluster


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Client]:
    """A client of the test's own cluster."""
    with cluster.client() as opened:
        yield opened
