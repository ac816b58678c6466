"""Files of answers: CSV, JSON, or lines of JSON, to which a later command adds."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from antipodes.regular_file import check_regular, open_file
from antipodes_tasks.errors import InputError, StoreError
from antipodes_tasks.quoting import quote, shorten

COLUMNS = ("position", "distance", "outcome", "expanded", "generated", "seconds", "moves", "settings")
"""The columns of answers in CSV; ``moves`` are separated by blanks."""
REPLACED = "\ufffd"
"""The character for bytes that are no text, such as half a character."""
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


def _row_of(position: str) -> str:
    return f"{as_row({'position': position}).removesuffix(',' * (len(COLUMNS) - 1))},"


def _json_of(position: str) -> str:
    return _as_json({"position": position}).removesuffix("}")


@dataclass(frozen=True)
class Form:
    """How a file has answers: a line each, between a head and an end."""

    head: str
    between: str
    end: str
    empty: str
    """The file without answers."""
    write: Callable[[Answer], str]
    read: Callable[[str], Answer]
    """The answer on a line; ValueError where it is none."""
    begin: Callable[[str], str]
    """How the answer for a position begins."""


HEAD = f"{','.join(COLUMNS)}\n"
CSV = Form(HEAD, "\n", "\n", HEAD, as_row, _from_row, _row_of)
FORMS = {
    ".csv": CSV,
    ".json": Form("[\n", ",\n", "\n]\n", "[]\n", _as_json, _from_json, _json_of),
    ".jsonl": Form("", "\n", "\n", "", _as_json, _from_json, _json_of),
}
"""The forms of files by the ends of their names."""


class AnswerFile:
    """A file of answers: CSV, JSON or lines of JSON. It is whole after each answer."""

    def __init__(self, path: Path) -> None:
        """Of the name alone; InputError if its end is unknown."""
        if path.suffix.lower() not in FORMS:
            raise InputError(
                f"--output: expected a file whose name ends in {', '.join(FORMS)}, found {quote(path.name)}"
            )
        self.path = path
        self._form = FORMS[path.suffix.lower()]
        self._answers = 0
        self._end = 0
        """Bytes up to the end of the last answer."""
        self._rest = ""
        """What follows the last answer, other than the end of the file."""

    def check_writable(self) -> None:
        """StoreError if the file cannot be written; one that was not there is not there afterwards."""
        with self._writing():
            if there := self.path.exists():
                check_regular(self.path.stat().st_mode, self.path)  # opening a pipe would wait
            self.path.open("ab").close()
            if not there:
                self.path.unlink()

    def read(self) -> list[Answer]:
        """The whole answers that the file has.

        InputError where it was written by something else.
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
        """InputError where more follows the answers than half an answer for the next position, from a killed command.

        None: there is no next position.
        """
        begin = "" if position is None else self._form.begin(position)
        rest = self._rest.rstrip(REPLACED)
        if not (begin.startswith(rest) or (begin and rest.startswith(begin) and "\n" not in rest)):
            raise self._invalid_line_error(rest)

    def begin(self) -> None:
        """Write the file without answers, unless it has some."""
        if not self._answers:
            with self._writing():
                self.path.write_text(self._form.empty, encoding="utf-8", newline="\n")

    def append(self, answer: Answer) -> None:
        """Write an answer in place of the end of the file, and a new end."""
        form = self._form
        before = form.between if self._answers else ""
        content = f"{before}{form.write(answer)}"
        with self._writing(), self.path.open("r+b" if self.path.exists() else "wb") as file:
            if not self._answers:
                file.write(form.head.encode())
            file.seek(self._end)
            file.write(f"{content}{form.end}".encode())
            file.truncate()
        self._answers += 1
        self._end += len(content.encode())

    def _text(self) -> str:
        """The text of the file; none if it has no answers."""
        try:
            with open_file(self.path) as file:
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise InputError(f"--output: cannot read {shorten(str(self.path))}: {error.strerror or error}") from error
        return "" if text.strip() in ("", self._form.empty.strip()) else text

    def _answer(self, line: str) -> Answer:
        try:
            return self._form.read(line)
        except (ValueError, StopIteration):
            raise self._invalid_line_error(line) from None

    def _invalid_line_error(self, text: str) -> InputError:
        """The error about text that is no answer."""
        line = next(filter(None, text.split("\n")), "")
        return InputError(f"--output: expected an answer on each line of {self.path}, found {quote(shorten(line, 60))}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Errors of the system in the block become StoreErrors."""
        try:
            yield
        except OSError as error:
            raise StoreError(f"cannot write {shorten(str(self.path))}: {error.strerror or error}") from error
