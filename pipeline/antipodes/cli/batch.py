"""Many positions on the command line: where they come from, how they are solved, and where the answers go."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from antipodes.cli.answer_files import COLUMNS, Answer, AnswerFile, as_row
from antipodes.cli.streams import input_batches, print_json_list, print_line
from antipodes.events import Listener, PositionsSolved
from antipodes.executors.api import Scheduler, never_stop
from antipodes.executors.opening import open_scheduler
from antipodes.progress.show import show_progress
from antipodes.puzzles.puzzle import Puzzle
from antipodes.runs.options import tasks_at_once
from antipodes.stores import read_manifest
from antipodes.tables.batch import Search, solve_on
from antipodes.tables.json_results import solved_view
from antipodes.tables.solve import Solved
from antipodes_tasks.errors import InputError, PositionError
from antipodes_tasks.quoting import counted, shorten
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.parts import first_wrong

LIMITS = ("max_depth", "max_seconds")
"""The limits that decide answers."""


@dataclass(frozen=True, slots=True)
class Machines:
    """Where positions are solved: on threads of this process, or on a cluster."""

    workers: int | None = None
    scheduler: str | None = None
    scheduler_file: str | None = None

    @property
    def solves_in_process(self) -> bool:
        """Whether threads of this process solve them."""
        return self.scheduler in (None, "threads") and self.scheduler_file is None

    @contextmanager
    def opened(self, listener: Listener) -> Iterator[Scheduler]:
        """The scheduler of the cluster, with workers; raises as `open_scheduler`."""
        name = self.scheduler or "threads"
        with open_scheduler(name, tasks_at_once(self.workers, "--workers"), self.scheduler_file, listener) as scheduler:
            scheduler.wait_for_workers(listener, never_stop)
            yield scheduler


def solve_batch(
    puzzle: Puzzle, batch: "Batch", search: Search, goal: str | None, machines: Machines, quiet: bool
) -> None:
    """Solve the positions of a file, in their order; each answer is printed or written as soon as it is known.

    InputError where the output has other positions, or answers that were found with other settings.
    """
    every = batch.positions(puzzle)
    settings = _settings(puzzle, search, goal)
    count = batch.done([puzzle.format(labels) for labels in every], settings)
    rest = every[count:]

    def view(solved: Solved) -> Answer:
        nonlocal count
        answer = {"position": puzzle.format(every[count]), **solved_view(puzzle, solved), "settings": settings}
        count += 1
        listener(PositionsSolved(count, len(every)))
        return answer

    with show_progress(quiet or batch.on_terminal) as listener:
        if machines.solves_in_process:
            answers = search.solve(rest, machines.workers)  # loads the tables, whose time tells nothing of the rest
            listener(PositionsSolved(count, len(every)))
            batch.show(map(view, answers))
            return
        listener(PositionsSolved(count, len(every)))
        with machines.opened(listener) as scheduler, batch.answer_writer() as take:
            solve_on(scheduler, search, rest, lambda solved: take(view(solved)))


def _settings(puzzle: Puzzle, search: Search, goal: str | None) -> str:
    """What decides the answers, as text: puzzle, goal, method, tables and limits."""
    given = {"to": goal, "method": search.method, "heuristic": search.heuristic}
    given |= {name.replace("_", "-"): search.limits.get(name) for name in LIMITS}
    words = [f"{puzzle.name}@{puzzle.fingerprint[:8]}"]
    words += [f"--{name} {value}" for name, value in given.items() if value is not None]
    words += [f"--tables {Path(str(one)).stem}@{read_manifest(one).fingerprint[:8]}" for one in search.tables]
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Batch:
    """The positions of a file."""

    source: str
    output: AnswerFile | None
    as_json: bool

    @classmethod
    def of(cls, source: str, output: str | None, as_json: bool) -> "Batch":
        """The batch of a file, ``-`` is standard input."""
        return cls(source, None if output is None else AnswerFile(Path(output)), as_json)

    @property
    def on_terminal(self) -> bool:
        """Whether the answers appear on a terminal, where progress would be in their way."""
        return self.output is None and sys.stdout.isatty()

    @property
    def name(self) -> str:
        """What the positions come from, for messages."""
        return "standard input" if self.source == "-" else self.source

    def positions(self, puzzle: Puzzle) -> Labels:
        """The positions ``(n, places)`` of the lines that are not blank; an InputError names the line."""
        every = chain.from_iterable(input_batches()) if self.source == "-" else _text(Path(self.source)).splitlines()
        lines = {number: line for number, line in enumerate(every, start=1) if line.strip()}
        texts = list(lines.values())
        try:
            return puzzle.parse_many(texts)
        except PositionError as error:
            number = list(lines)[first_wrong(len(texts), lambda at: puzzle.parse_many(texts[at]))]
            raise InputError(f"{self.name}, line {number}: {error}") from None

    def done(self, positions: Sequence[str], settings: str) -> int:
        """How many of the positions the output has already.

        InputError where it has other positions, answers that were found with other ``settings``, or anything else.
        """
        if self.output is None:
            return 0
        before, path = self.output.read(), self.output.path
        self._check_order([one["position"] for one in before], positions, path)
        for one in before:
            if one["settings"] != settings:
                found = shorten(one["settings"], 200)
                raise InputError(f"--output: {path} has answers with {found}; now it is {settings}")
        self.output.check_rest(next(iter(positions[len(before) :]), None))
        return len(before)

    def _check_order(self, before: Sequence[str], positions: Sequence[str], path: Path) -> None:
        """InputError unless the answers are for the first positions, in their order."""
        if len(before) > len(positions):
            here = counted(len(positions), "position")
            raise InputError(f"--output: {path} has {counted(len(before), 'answer')}, {self.name} {here}")
        for number, (found, expected) in enumerate(zip(before, positions, strict=False), start=1):
            if found != expected:
                here, there = shorten(expected, 100), shorten(found, 100)
                raise InputError(
                    f"--output: position {number} of {self.name} is {here}, answer {number} of {path} is for {there}"
                )

    def show(self, answers: Iterable[Answer]) -> None:
        """Print the answers, or append them to the output, each when it is known."""
        if self.as_json:
            print_json_list(answers)
            return
        with self.answer_writer() as take:
            for answer in answers:
                take(answer)

    @contextmanager
    def answer_writer(self) -> Iterator[Callable[[Answer], None]]:
        """A function that takes answers, and prints them, JSON in the end, or appends them to the output."""
        if self.output is not None:
            self.output.begin()
            yield self.output.append
        elif self.as_json:
            every = list[Answer]()
            try:
                yield every.append
            finally:
                print_json_list(every)
        else:
            print_line(",".join(COLUMNS))
            yield lambda answer: print_line(as_row(answer), flush=True)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "expected text in UTF-8, found other bytes"
        raise InputError(f"cannot read {path}: {reason}") from error
