from collections.abc import Iterator

import pytest
from clusters import Cluster
from distributed import Client


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Client]:
    """A client of the test's own cluster."""
    with cluster.client() as opened:
        yield opened
