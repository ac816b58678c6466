"""Requests between tasks of one run on different workers, over the connections that dask's workers have.

A task that needs data of another worker asks for a piece of it, and the other worker answers from a thread that runs no
tasks. So an answer never waits for a task to end, and the scheduler does not see it.
"""

import asyncio
import threading
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import wait as wait_for
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from distributed import Status, get_worker, secede
from distributed.comm.core import CommClosedError
from distributed.protocol.serialize import to_serialize

from antipodes.executors.api import Peer, is_cancelled
from antipodes.executors.distributed.worker import failure_of
from antipodes_tasks.base.errors import AntipodesError, InterruptedRunError, WorkerUnreachableError

OPERATION = "antipodes_ask"
"""The name of the requests among the handlers of a worker."""
UNREADY_SECONDS = 1.0
"""Seconds after which a worker answers that it has no answer yet; then it is asked again."""
UNREACHABLE_SECONDS = 60.0
"""Seconds after which a worker to which no connection succeeds counts as unreachable."""
RETRY_SECONDS = 0.2
"""Seconds between two attempts to connect, and between two checks whether the run still waits for the task."""
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.016
"""Seconds between two checks whether an answer exists."""

_of_thread = threading.local()
_peers: WeakValueDictionary[tuple[str, str], Peer] = WeakValueDictionary()
"""The peers in this process, by the address of their worker and their name. Only results of tasks keep them alive."""


class WorkerChannel:
    """The `Channel` between the workers of a cluster. All methods are called in tasks."""

    def open(self, name: str, peer: Peer) -> None:
        worker = get_worker()
        _peers[worker.address, name] = peer
        worker.handlers[OPERATION] = _handler_of(worker.address)

    def ask(self, name: str, questions: Mapping[str, Any]) -> "WorkerAnswers":
        worker: Any = get_worker()
        asking = _ask_all(worker, name, questions)
        return WorkerAnswers(asyncio.run_coroutine_threadsafe(asking, worker.loop.asyncio_loop))


class WorkerAnswers:
    """The answers to some requests, which may still be under way."""

    def __init__(self, under_way: "Future[list[Any]]") -> None:
        self._under_way = under_way

    def wait(self) -> list[Any]:
        while not wait_for([self._under_way], RETRY_SECONDS).done:
            _let_others_run()
            if is_cancelled():
                self.cancel()
                raise InterruptedRunError("the run no longer waits for this task")
        try:
            return self._under_way.result()
        except CancelledError as error:  # the worker is closing
            raise InterruptedRunError("the worker is closing") from error

    def cancel(self) -> None:
        self._under_way.cancel()


def _let_others_run() -> None:
    """Let the worker start another task while this one waits.

    If two runs share a cluster, the tasks for which this one waits may wait for a thread that a task of the other run
    has, which in turn waits for a task behind this one.
    """
    if not getattr(_of_thread, "has_seceded", False):
        _of_thread.has_seceded = True  # the thread ends with this task
        secede()


def _handler_of(address: str) -> Any:
    """Return the function that answers requests to the worker with this address."""

    async def answer_request(comm: Any, name: str, question: Any) -> Any:
        end, pause = time.monotonic() + UNREADY_SECONDS, FIRST_PAUSE
        while (peer := _peers.get((address, name))) is None or not peer.is_ready(question):
            if time.monotonic() > end:
                return {"answer": None}
            del peer
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        async with peer.slots:
            answer = await asyncio.to_thread(_answer_of, peer, question, address)
            with suppress(CommClosedError):  # the other worker no longer waits for it
                await comm.write({"answer": to_serialize(answer)})
        return Status.dont_reply

    return answer_request


def _answer_of(peer: Peer, question: Any, address: str) -> Any:
    """Return the answer, None if there is none yet, or the error."""
    try:
        return peer.answer(question)
    except BaseException as error:
        return failure_of(error, f"worker {address}")


async def _ask_all(worker: Any, name: str, questions: Mapping[str, Any]) -> list[Any]:
    asking = [asyncio.ensure_future(_ask_one(worker, *asked, name)) for asked in questions.items()]
    try:
        return await asyncio.gather(*asking)
    finally:
        for one in asking:
            one.cancel()


async def _ask_one(worker: Any, address: str, question: Any, name: str) -> Any:
    connected = time.monotonic()
    while True:
        try:
            reply = await getattr(worker.rpc(address), OPERATION)(name=name, question=question)
        except OSError as error:
            if time.monotonic() - connected > UNREACHABLE_SECONDS:
                raise WorkerUnreachableError(address) from error
            await asyncio.sleep(RETRY_SECONDS)
            continue
        except RuntimeError as error:
            if worker.rpc.status is Status.running:
                raise
            raise InterruptedRunError("the worker is closing") from error
        connected = time.monotonic()
        if reply is None:  # the worker has no peers yet
            await asyncio.sleep(RETRY_SECONDS)
        elif isinstance(answer := reply["answer"], AntipodesError):
            raise answer
        elif answer is not None:
            return answer
