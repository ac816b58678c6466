"""Solving many positions on the command line: reading them, running the searches, and writing the answers."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from antipodes.cli.answer_files import COLUMNS, AnswerFile, AnswerRow, as_row
from antipodes.cli.position_lines import PositionLines
from antipodes.cli.streams import input_batches, print_json_list, print_line
from antipodes.executors.api import Scheduler, never_stop
from antipodes.executors.open_scheduler import open_scheduler
from antipodes.progress.show import show_progress
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving.batch_search import BatchSearch, solve_on
from antipodes.solving.solve import Solved
from antipodes.stores import read_manifest
from antipodes.system.events import Listener, PositionsSolved
from antipodes.system.options import tasks_at_once
from antipodes.system.records import values_of
from antipodes.tables.json_results import solve_answer
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, PositionError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.rules.parts import first_wrong

LIMITS = ("max_depth", "max_seconds", "weight", "width")
"""Limits and options that influence the answers."""


@dataclass(frozen=True, slots=True)
class Machines:
    """The threads of this process or the cluster that solve positions."""

    workers: int | None = None
    scheduler: str | None = None
    scheduler_file: str | None = None

    @property
    def solves_in_process(self) -> bool:
        """Whether threads of this process solve the positions."""
        return self.scheduler in (None, "threads") and self.scheduler_file is None

    @contextmanager
    def opened(self, listener: Listener) -> Iterator[Scheduler]:
        """Yield the scheduler of the cluster once it has workers; raise the errors of `open_scheduler`."""
        name = self.scheduler or "threads"
        with open_scheduler(name, tasks_at_once(self.workers, "--workers"), self.scheduler_file, listener) as scheduler:
            scheduler.wait_for_workers(listener, never_stop)
            yield scheduler


def solve_batch(
    puzzle: Puzzle,
    batch: "Batch",
    search: BatchSearch,
    names: Mapping[str, str | None],
    machines: Machines,
    quiet: bool,
) -> None:
    """Solve the positions of a file in order; print or write each answer as soon as it is known.

    ``names`` contains the goal (``to``) and the ``heuristic`` of the search as text, or None if they are not given.

    Raises InputError if the output file has answers for other positions, or answers found with other settings.
    """
    every, lines = batch.positions(puzzle)
    settings = _settings(puzzle, search, names)
    count = batch.done([puzzle.format(labels) for labels in every], lines, settings)
    rest = every[count:]

    def view(solved: Solved) -> AnswerRow:
        nonlocal count
        found = values_of(solve_answer(puzzle, solved))
        answer = {"position": puzzle.format(every[count]), **found, "settings": settings, "line": lines[count]}
        count += 1
        listener(PositionsSolved(count, len(every)))
        return answer

    with show_progress(quiet or batch.on_terminal) as listener:
        if machines.solves_in_process:
            answers = search.solve(rest, machines.workers)  # loads the tables before the time left is estimated
            listener(PositionsSolved(count, len(every)))
            batch.show(map(view, answers))
            return
        listener(PositionsSolved(count, len(every)))
        with machines.opened(listener) as scheduler, batch.answer_writer() as take:
            solve_on(scheduler, search, rest, lambda solved: take(view(solved)))


def _settings(puzzle: Puzzle, search: BatchSearch, names: Mapping[str, str | None]) -> str:
    """Return the settings that determine the answers, as text: puzzle, goal, method, heuristic, tables and limits."""
    given = {"to": names["to"], "method": search.method, "heuristic": names["heuristic"]}
    given |= {name.replace("_", "-"): search.limits.get(name) for name in LIMITS}
    words = [f"{puzzle.name}@{puzzle.fingerprint[:8]}"]
    words += [f"--{name} {value}" for name, value in given.items() if value is not None]
    words += [f"--tables {Path(str(one)).stem}@{read_manifest(one).fingerprint[:8]}" for one in search.tables]
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Batch:
    """The positions in a file, and the output of their answers."""

    source: str
    output: AnswerFile | None
    as_json: bool
    are_moves: bool
    """Whether the lines are sequences of moves."""

    @classmethod
    def of(cls, source: str, output: str | None, as_json: bool, are_moves: bool) -> "Batch":
        """Return the batch of a file; ``-`` is standard input."""
        return cls(source, None if output is None else AnswerFile(Path(output)), as_json, are_moves)

    @property
    def on_terminal(self) -> bool:
        """Whether the answers appear on a terminal, where they would mix with the progress."""
        return self.output is None and sys.stdout.isatty()

    @property
    def name(self) -> str:
        """Name of the source, for messages."""
        return "standard input" if self.source == "-" else self.source

    def positions(self, puzzle: Puzzle) -> tuple[Labels, list[int]]:
        """Return the positions ``(n, places)`` of the nonblank lines, and the numbers of these lines, ``(n,)``.

        Raises InputError for the first invalid line.
        """
        every = chain.from_iterable(input_batches()) if self.source == "-" else _text(Path(self.source)).splitlines()
        reading = PositionLines(puzzle, self.are_moves)
        lines = reading.numbered(every)
        texts = list(lines.values())
        try:
            return reading.read(texts), list(lines)
        except PositionError as error:
            number = list(lines)[first_wrong(len(texts), lambda at: reading.read(texts[at]))]
            raise InputError(f"{self.name}, line {number}: {error}") from None

    def done(self, positions: Sequence[str], lines: Sequence[int], settings: str) -> int:
        """Return the number of positions, from these lines, that the output file already answers.

        Raises InputError if the file has answers for other positions, answers found with other ``settings``, or any
        other text.
        """
        if self.output is None:
            return 0
        before, path = self.output.read(), self.output.path
        self._check_order([one["position"] for one in before], positions, path)
        for one, line in zip(before, lines, strict=False):
            if str(one["line"]) != str(line):
                found = f"{shorten(one['position'], 100)} is on line {line}, but its answer in {path} names line"
                raise InputError(f"--output: {found} {quote(one['line'])}; name another file")
            if one["settings"] != settings:
                found = shorten(one["settings"], 200)
                remedy = "use these settings, or name another file"
                raise InputError(f"--output: the answers in {path} have the settings {found}, not {settings}; {remedy}")
        self.output.check_rest(next(iter(positions[len(before) :]), None))
        return len(before)

    def _check_order(self, before: Sequence[str], positions: Sequence[str], path: Path) -> None:
        """Raise InputError unless the answers are for the first positions, in order."""
        if len(before) > len(positions):
            here = counted(len(positions), "position")
            raise InputError(
                f"--output: {path} has {counted(len(before), 'answer')}, but {self.name} has {here}; name another file"
            )
        for number, (found, expected) in enumerate(zip(before, positions, strict=False), start=1):
            if found != expected:
                here, there = shorten(expected, 100), shorten(found, 100)
                answer = f"answer {number} of {path} is for {there}"
                raise InputError(
                    f"--output: position {number} of {self.name} is {here}, but {answer}; name another file"
                )

    def show(self, answers: Iterable[AnswerRow]) -> None:
        """Print the answers or append them to the output file, each as soon as it is known."""
        if self.as_json:
            print_json_list(answers)
            return
        with self.answer_writer() as take:
            for answer in answers:
                take(answer)

    @contextmanager
    def answer_writer(self) -> Iterator[Callable[[AnswerRow], None]]:
        """Yield a function that prints an answer or appends it to the output file; JSON is printed after the block."""
        if self.output is not None:
            self.output.begin()
            yield self.output.append
        elif self.as_json:
            every = list[AnswerRow]()
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
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"cannot read {path}: {reason}") from error
