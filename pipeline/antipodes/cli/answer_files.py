"""Files of answers in CSV, JSON or JSON Lines, to which a later command can append."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from antipodes.system.output_files import writing
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.base.regular_file import check_regular, open_file

COLUMNS = ("position", "distance", "outcome", "expanded", "generated", "seconds", "moves", "settings", "line")
"""Columns of answers in CSV; ``moves`` are separated by blanks, and ``line`` is the line of the position."""
REPLACED = "\ufffd"
"""Replacement for invalid bytes, such as half a character."""
AnswerRow = Mapping[str, Any]
"""An answer: the keys of ``solve --json``, its ``position``, the ``settings`` of the search, and its ``line``."""


def as_row(answer: AnswerRow) -> str:
    """Return an answer as a line of CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="")
    writer.writerow({**answer, "moves": " ".join(answer.get("moves") or ())})
    return text.getvalue()


def _from_row(row: str) -> AnswerRow:
    """Return the columns of a line of CSV."""
    return dict(zip(COLUMNS, next(csv.reader([row])), strict=True))


def _from_json(text: str) -> AnswerRow:
    """Return the answer in a line of JSON, which may end with a comma."""
    found = json.loads(text.removesuffix(","))
    kinds = {"position": str, "settings": str, "line": int}
    if not (isinstance(found, dict) and all(isinstance(found.get(key), kind) for key, kind in kinds.items())):
        raise ValueError
    return found


def _as_json(answer: AnswerRow) -> str:
    return json.dumps(answer, ensure_ascii=False)


def _row_of(position: str) -> str:
    return f"{as_row({'position': position}).removesuffix(',' * (len(COLUMNS) - 1))},"


def _json_of(position: str) -> str:
    return _as_json({"position": position}).removesuffix("}")


@dataclass(frozen=True)
class FileFormat:
    """A file format: a head, one answer per line, and an end."""

    head: str
    between: str
    """Separator of answers."""
    end: str
    empty: str
    """Content of a file without answers."""
    write: Callable[[AnswerRow], str]
    read: Callable[[str], AnswerRow]
    """Parses the answer on a line; raises ValueError if it is not an answer."""
    begin: Callable[[str], str]
    """Returns the beginning of the answer for a position."""


HEAD = f"{','.join(COLUMNS)}\n"
CSV = FileFormat(HEAD, "\n", "\n", HEAD, as_row, _from_row, _row_of)
FORMS = {
    ".csv": CSV,
    ".json": FileFormat("[\n", ",\n", "\n]\n", "[]\n", _as_json, _from_json, _json_of),
    ".jsonl": FileFormat("", "\n", "\n", "", _as_json, _from_json, _json_of),
}
"""File formats by the suffix of the file name."""


class AnswerFile:
    """A file of answers in CSV, JSON or JSON Lines; it is valid after each answer."""

    def __init__(self, path: Path) -> None:
        """Choose the format from the file name; raise InputError if the suffix is unknown. The file is not opened."""
        if path.suffix.lower() not in FORMS:
            raise InputError(f"--output: the file name must end in {', '.join(FORMS)}; found {quote(path.name)}")
        self.path = path
        self._form = FORMS[path.suffix.lower()]
        self._answers = 0
        self._end = 0
        """Number of bytes up to the end of the last answer."""
        self._rest = ""
        """Text after the last complete answer; empty if it is only the end of the format."""

    def check_writable(self) -> None:
        """Raise StoreError if the file cannot be written; do not leave a new file behind."""
        with writing(self.path):
            if there := self.path.exists():
                check_regular(self.path.stat().st_mode, self.path)  # opening a pipe would block
            self.path.open("ab").close()
            if not there:
                self.path.unlink()

    def read(self) -> list[AnswerRow]:
        """Return the complete answers in the file.

        Raises InputError if the file is not in this format.
        """
        text = self._text()
        head, end = self._form.head, self._form.end.strip()
        if not head.startswith(text[: len(head)]):
            expected = f"the columns {', '.join(COLUMNS)}" if self._form is CSV else "a list of answers"
            found = quote(shorten(text.split("\n")[0], 60))
            raise InputError(f"--output: expected {expected} in {self.path}, found {found}")
        lines = text[len(head) :].split("\n")
        whole = list(takewhile(lambda line: line != end, lines[:-1]))
        rest = "\n".join(lines[len(whole) :])
        self._rest = "" if rest.strip() == end else rest
        answers = [self._answer(line) for line in whole]
        self._answers = len(answers)
        sizes = (len(line.removesuffix(self._form.between.strip()).encode()) for line in whole)
        self._end = len(head) + sum(sizes) + len(self._form.between) * max(len(whole) - 1, 0)
        return answers

    def check_rest(self, position: str | None) -> None:
        """Raise InputError if the answers are followed by text other than the beginning of the next answer.

        A killed command may leave such a beginning. ``position`` is the next position, or None if there is none.
        """
        begin = "" if position is None else self._form.begin(position)
        rest = self._rest.rstrip(REPLACED)
        if not (begin.startswith(rest) or (begin and rest.startswith(begin) and "\n" not in rest)):
            raise self._invalid_line_error(rest)

    def begin(self) -> None:
        """Write a file without answers, unless the file already has answers."""
        if not self._answers:
            with writing(self.path):
                self.path.write_text(self._form.empty, encoding="utf-8", newline="\n")

    def append(self, answer: AnswerRow) -> None:
        """Append an answer: overwrite the end of the format with the answer and a new end."""
        form = self._form
        before = form.between if self._answers else ""
        content = f"{before}{form.write(answer)}"
        with writing(self.path), self.path.open("r+b" if self.path.exists() else "wb") as file:
            if not self._answers:
                file.write(form.head.encode())
            file.seek(self._end)
            file.write(f"{content}{form.end}".encode())
            file.truncate()
        self._answers += 1
        self._end += len(content.encode())

    def _text(self) -> str:
        """Return the text of the file, or an empty string if it has no answers."""
        try:
            with open_file(self.path) as file:
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise InputError(f"--output: cannot read {shorten(str(self.path))}: {error.strerror or error}") from error
        return "" if text.strip() in ("", self._form.empty.strip()) else text

    def _answer(self, line: str) -> AnswerRow:
        try:
            return self._form.read(line)
        except (ValueError, StopIteration):
            raise self._invalid_line_error(line) from None

    def _invalid_line_error(self, text: str) -> InputError:
        """Return the error for text that is not an answer."""
        line = next(filter(None, text.split("\n")), "")
        found = quote(shorten(line, 60))
        return InputError(f"--output: {self.path} contains a line that is not an answer: {found}; name another file")
