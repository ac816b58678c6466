"""The last results of each benchmark module, in ``results.json``, so that modules can be measured in several parts."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.history import now
from benchmarks.measure import HERE, Row

FILE = HERE / "results.json"


@dataclass(frozen=True)
class Section:
    """The results of one module."""

    title: str
    rows: tuple[Row, ...]
    date: str
    machine: str
    """The hardware."""
    software: str
    """Versions of Python and the libraries."""
    commit: str

    def figures(self) -> dict[str, str]:
        """Return the results as text, by section and measurement."""
        return {self.key(row): row.measured for row in self.rows}

    def made(self) -> dict[str, str]:
        """Return when, where and at which commit the rows were measured."""
        return {"date": self.date, "machine": self.machine, "software": self.software, "commit": self.commit}

    def key(self, row: Row) -> str:
        """Return the name of a row in the history and among the remarks."""
        return f"{self.title}: {row.what}"


def section(title: str, rows: list[Row]) -> Section:
    """Return a section that was measured now, on this machine, at the current commit."""
    return Section(title, tuple(rows), **now())


def read(file: Path | None = None) -> dict[str, Section]:
    """Return the sections by module."""
    file = file or FILE
    stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {name: Section(**{**one, "rows": tuple(Row(**row) for row in one["rows"])}) for name, one in stored.items()}


def write(sections: Mapping[str, Section], file: Path | None = None) -> None:
    """Store the sections."""
    text = json.dumps({name: asdict(one) for name, one in sections.items()}, ensure_ascii=False, indent=1)
    (file or FILE).write_text(text + "\n", encoding="utf-8")
