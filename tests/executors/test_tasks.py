"""Errors of tasks on workers."""

import uuid

import pytest
from clusters import Cluster

from antipodes.events import silence
from antipodes.executors.api import never
from antipodes.executors.distributed.cluster import Cluster as Workers


def test_every_error_of_a_task_reaches_the_run(shared: Cluster) -> None:
    """Even one that would end the process of the worker."""

    def raising(kind: type[BaseException]) -> None:
        raise kind("of a task")

    with shared.client() as client, Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never)
        for number, kind in enumerate((SystemExit, KeyboardInterrupt, type("PanicException", (BaseException,), {}))):
            name = f"raise-{uuid.uuid4().hex}"
            handles = scheduler.persist({(name, number): (raising, kind)})
            with pytest.raises(RuntimeError, match=rf"worker tcp://.*: {kind.__name__}: of a task"):
                scheduler.gather(list(handles.values()))
        assert shared.workers().keys() == scheduler.members.keys()
