"""Runs of commands: options, progress and interruption, for tables and tilings alike."""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from antipodes.cli.failures import Stopped
from antipodes.cli.loading import INTERRUPTED, SIGNALS
from antipodes.cli.shared_options import GivenOptions
from antipodes.cli.streams import complain, print_message
from antipodes.cli.usage import naming
from antipodes.progress.show import show_progress
from antipodes.runs.interruption import StopSignals
from antipodes.storage.opening import storage_at
from antipodes.system.addresses import Address
from antipodes.system.events import (
    Assembling,
    Committed,
    Event,
    LayerFinished,
    Listener,
    PartitionFinished,
    PartitionsCommitted,
    PartitionSearched,
    PartitionsInProgress,
    Preparing,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
    WaitingForWorkers,
)
from antipodes.system.machine import available_workers, process_began
from antipodes.system.options import RunOptions, chosen_store
from antipodes_tasks.base import arguments, parallel

Preparations = Preparing | TablesBuilt | Restoring | WaitingForWorkers
"""Events while no layer or partition is being searched. A run that is told to stop does not begin to search one."""
SearchSteps = (
    SearchStarted | PartitionFinished | LayerFinished | TilingSearchStarted | PartitionSearched | PartitionsInProgress
)


@contextmanager
def preparing(threads: int | None = None) -> Iterator[None]:
    """Run calls of `in_threads` in the block on several threads, by default one per processor.

    Progress appears with the first event, so quick work shows none.
    """
    with ExitStack() as stack:
        listeners: list[Listener] = []

        def print_progress(what: str, done: int, of: int) -> None:
            if not listeners:
                listeners.append(stack.enter_context(show_progress(quiet=False)))
            listeners[0](Preparing(what, done, of))

        with parallel.watched(print_progress, lambda: False, threads or available_workers()):
            yield


def run_options(defaults: Mapping[str, Any], given: GivenOptions, started_by: tuple[str, ...] = ()) -> RunOptions:
    """Return the options of a run: the given ones, then the config's ``[run]`` table, then the defaults."""
    chosen = {name: value for name, value in given.items() if value is not False}
    return RunOptions.of(defaults, chosen, started_by=started_by, began=process_began())


def store_of_run(given: str | None, run: Mapping[str, Any], name: str, counts_only: bool = False) -> Address:
    """Return the store of a run like `chosen_store`; an error about a given store names the option."""
    address = chosen_store(given, run, name, counts_only)
    if given is not None:
        with naming("--store"):
            arguments.address(given, "--store")
            storage_at(address)
    return address


class Interrupts(StopSignals):
    """Handles the signals of a command. In the block, the first is recorded, and the second raises Stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.next_command: Callable[[], str] = lambda: "the same command"
        """Returns the command that resumes, for the message of an immediate stop."""
        self.next_steps = "stopping before the search begins"
        """What the run does after the first signal, for its message."""

    def signals(self) -> Sequence[signal.Signals]:
        """Return the signals that stop commands."""
        return SIGNALS

    def announce(self) -> None:
        """Print what the run does now."""
        print_message(f"{self.next_steps}; interrupt again to stop immediately")

    def stop_immediately(self) -> NoReturn:
        """Raise Stopped with the command that resumes."""
        raise Stopped(f"stopped immediately; resume with: {self.next_command()}")


@dataclass(frozen=True)
class RunRequest:
    """A command's request to compute into a store."""

    store: Address
    options: RunOptions
    interrupts: Interrupts
    quiet: bool
    as_json: bool
    verbose: bool = False
    """Whether the report describes how the work was divided."""

    @contextmanager
    def watched(self, under_way: str) -> Iterator[Listener]:
        """Show the progress of a run in the block.

        The first interruption prints what is being finished, such as the work ``under_way``, the second how to resume.
        """
        saved = started = False

        def next_command() -> str:
            return self.options.next_command(self.store, saved)

        self.interrupts.next_command = next_command
        self.interrupts.next_steps = "stopping before the search begins"
        with show_progress(self.quiet, began=self.options.began) as shown:

            def listener(event: Event) -> None:
                nonlocal saved, started
                if isinstance(event, Preparations):
                    self.interrupts.next_steps = f"stopping before the search {'continues' if started else 'begins'}"
                elif isinstance(event, Assembling):
                    self.interrupts.next_steps = "finishing and committing the chunks being written"
                elif isinstance(event, SearchSteps):
                    self.interrupts.next_steps = f"finishing and committing {under_way}"
                    started = True
                saved = saved or isinstance(event, Committed | PartitionsCommitted)
                shown(event)

            yield listener

    def interrupted(self, saved: str) -> int:
        """Print what is ``saved``, such as "depths 0 to 7 are", and how to resume; return the exit status."""
        resume = self.options.resume_command(self.store)
        return complain(f"interrupted: {saved} kept in {self.store}; resume with: {resume}", INTERRUPTED)
