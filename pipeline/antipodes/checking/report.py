"""The outcome of checking a puzzle's definition."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from antipodes_tasks.errors import InputError, SourceError
from antipodes_tasks.quoting import counted, shorten

MOST_NAMED = 20
"""Problems that a report names, at most."""


@dataclass(repr=False)
class CheckReport:
    """The problems of a puzzle, and what was checked."""

    problems: list[str] = field(default_factory=list)
    """A line for each: where it is, what was expected, and what was found."""
    notes: list[str] = field(default_factory=list)
    """A line for each thing worth knowing that is no problem."""
    checked: list[str] = field(default_factory=list)
    """A phrase for each thing that was tried."""

    def __repr__(self) -> str:
        said = (
            f"{counted(len(self.problems), 'problem')}: {self.problems[0]}"
            if self.problems
            else "; ".join(self.checked)
        )
        return f"<CheckReport: {shorten(said if self.problems else f'ok: {said}', 80)}>"

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def add(self, found: Iterable[str]) -> bool:
        """Add problems as they are found; whether there were none. An error in between is one, and the last."""
        before = len(self.problems)
        for problem in _caught(found):
            if problem not in self.problems and len(self.problems) < MOST_NAMED:
                self.problems.append(problem)
        return len(self.problems) == before

    def to_json(self) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``."""
        return {"ok": self.ok, "problems": self.problems, "notes": self.notes, "checked": self.checked}


def _caught(found: Iterable[str]) -> Iterator[str]:
    try:
        yield from found
    except (InputError, SourceError) as error:
        yield str(error)
