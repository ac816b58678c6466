"""The outcome of checking a store, whatever it holds."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from antipodes_tasks.quoting import shorten


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(ABC):
    """The problems that were found in a store; its text is one line for each, or one that says what was checked."""

    problems: tuple[str, ...] = ()
    complete: bool | None = None
    """Whether the store is finished; None if it is too damaged to tell."""

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    @abstractmethod
    def checked(self) -> str:
        """One line on a store without problems, which claims no more than was checked."""

    def __str__(self) -> str:
        return "\n".join(self.problems or [self.checked()])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {shorten(str(self), 80)}>"

    def to_json(self) -> dict[str, Any]:
        """The verdict with the keys of ``verify --json``."""
        fields = asdict(self)
        problems = list(fields.pop("problems"))
        return {"ok": self.ok, **fields, "problems": problems}
