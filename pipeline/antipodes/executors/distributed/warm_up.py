"""Calls on the members of a run beside its tasks: they warm up when it starts, and free memory when it ends."""

import logging
import uuid
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from antipodes.executors.api import Call
from antipodes.executors.distributed.connection import NOTICE_SECONDS, translated
from antipodes.executors.distributed.worker import begin_run, end_run

logger = logging.getLogger(__name__)


class WarmUp:
    """Makes workers ready for the tasks of one run."""

    def __init__(self, client: Any) -> None:
        self.call: Call | None = None
        """Run by each member beside its first tasks."""
        self._client = client
        self._run = uuid.uuid4().hex

    def begin(self, members: Iterable[str]) -> None:
        """Start the call on the members, without waiting for it; a member that has run it already is quick."""
        if self.call:
            self._run_on(members, begin_run, self._run, self.call, wait=False)

    def end(self, members: Iterable[str]) -> None:
        """Tell the members that the run ends."""
        if self.call:
            self._run_on(members, end_run, self._run)

    def _run_on(self, members: Iterable[str], function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        """Run a function on each member that answers in time; errors are only logged, as tasks meet them again."""
        try:
            with translated(self._client):
                run: Any = partial(self._client.run, function, *arguments, workers=list(members), **named)
                self._client.sync(run, callback_timeout=NOTICE_SECONDS)
        except Exception as error:
            if self._client.status != "running":
                raise
            logger.info("not every worker could %s: %r", function.__name__, error)
