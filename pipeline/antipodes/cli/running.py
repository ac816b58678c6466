"""Runs as commands see them: watched, interrupted and resumed alike for tables and tilings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from antipodes.cli.interrupts import Interrupts
from antipodes.cli.loading import loading
from antipodes.cli.output import INTERRUPTED, complain
from antipodes.storage.address import Address

if TYPE_CHECKING:
    from antipodes.events import Listener
    from antipodes.runs.options import RunOptions


@dataclass(frozen=True)
class Request:
    """The store that a command computes into, and how it was asked to do that."""

    store: Address
    options: "RunOptions"
    interrupts: Interrupts
    quiet: bool
    as_json: bool
    verbose: bool = False
    """Whether the report says how the work was divided."""

    @contextmanager
    def watched(self, under_way: str) -> "Iterator[Listener]":
        """Show the progress of a run; an interruption finishes what is ``under_way``, and names the next command."""
        with loading():
            from antipodes.progress.show import show_progress

        self.interrupts.next_command = partial(self.options.next_command, self.store)
        self.interrupts.next_steps = f"finishing and committing {under_way}"
        with show_progress(self.quiet, began=self.options.began) as listener:
            yield listener

    def interrupted(self, saved: str) -> int:
        """Say that "depths 0 to 7 are" ``saved``, or whatever is, and how to resume; the exit status."""
        resume = self.options.next_command(self.store)
        return complain(f"interrupted: {saved} kept in {self.store}; resume with: {resume}", INTERRUPTED)
