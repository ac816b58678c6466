"""Files of answers: CSV, JSON, or lines of JSON, to which a later command adds."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import quote, shorten

COLUMNS = ("position", "distance", "outcome", "expanded", "generated", "seconds", "moves", "settings")
"""The columns of answers in CSV; ``moves`` are separated by blanks."""
Answer = Mapping[str, Any]
"""An answer with the keys of ``solve --json``, its ``position``, and the ``settings`` that it was found with."""


def as_row(answer: Answer) -> str:
    """An answer as a line of CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="")
    writer.writerow({**answer, "moves": " ".join(answer.get("moves") or ())})
    return text.getvalue()


def _from_row(row: str) -> Answer:
    """The columns of a line of CSV."""
    return dict(zip(COLUMNS, next(csv.reader([row])), strict=True))


def _from_json(text: str) -> Answer:
    """An answer in JSON, perhaps with the comma before the next."""
    found = json.loads(text.removesuffix(","))
    if not (isinstance(found, dict) and all(isinstance(found.get(key), str) for key in ("position", "settings"))):
        raise ValueError
    return found


def _as_json(answer: Answer) -> str:
    return json.dumps(answer, ensure_ascii=False)


@dataclass(frozen=True)
class Form:
    """How a file has answers: a line each, between a head and an end."""

    head: str
    between: str
    end: str
    write: Callable[[Answer], str]
    read: Callable[[str], Answer]
    """The answer on a line; ValueError where it is none."""


CSV = Form(f"{','.join(COLUMNS)}\n", "\n", "\n", as_row, _from_row)
FORMS = {
    ".json": Form("[\n", ",\n", "\n]\n", _as_json, _from_json),
    ".jsonl": Form("", "\n", "\n", _as_json, _from_json),
}
"""The forms of files by the ends of their names; all others are CSV."""


class AnswerFile:
    """A file of answers: CSV, JSON or lines of JSON. It is whole after each answer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._form = FORMS.get(path.suffix.lower(), CSV)
        self._answers = 0
        self._end = 0
        """Bytes up to the end of the last answer."""

    def read(self) -> list[Answer]:
        """The answers that the file has; half an answer at its end, from a command that was killed, does not count.

        InputError where it was written by something else.
        """
        text = self.path.read_bytes().decode(errors="replace") if self.path.exists() else ""
        head = self._form.head
        if not head.startswith(text[: len(head)]):
            expected = f"the columns {', '.join(COLUMNS)}" if self._form is CSV else "a list of answers"
            raise InputError(f"--output: expected {expected} in {self.path}, found something else")
        found = list[Answer]()
        self._end = len(head)
        for line in text[len(head) :].split("\n")[:-1]:
            if line == self._form.end.strip():
                break
            found.append(self._answer(line))
            length = len(line.removesuffix(self._form.between.strip()).encode())
            self._end += length if len(found) == 1 else length + len(self._form.between)
        self._answers = len(found)
        return found

    def append(self, answer: Answer) -> None:
        """Write an answer in place of the end of the file, and a new end."""
        form = self._form
        before = form.between if self._answers else ""
        content = f"{before}{form.write(answer)}"
        with self.path.open("r+b" if self.path.exists() else "wb") as file:
            if not self._answers:
                file.write(form.head.encode())
            file.seek(self._end)
            file.write(f"{content}{form.end}".encode())
            file.truncate()
        self._answers += 1
        self._end += len(content.encode())

    def _answer(self, line: str) -> Answer:
        try:
            return self._form.read(line)
        except (ValueError, StopIteration):
            message = f"--output: expected an answer on each line of {self.path}, found {quote(shorten(line, 60))}"
            raise InputError(message) from None
