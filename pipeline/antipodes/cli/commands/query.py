"""``antipodes query``: distances of positions, shortest paths, positions at a depth, and matches of a pattern."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Any

import numpy as np
import typer

from antipodes.cli.command import PositionsCommand, command, commands, obeys
from antipodes.cli.drawing import Gif, PictureFiles, Png, Size, Svg, print_path, print_positions
from antipodes.cli.position_lines import PositionLines
from antipodes.cli.shared_options import MOVE_LINES, AsJson, MoveSequences, PuzzleOfStore, Store
from antipodes.cli.streams import (
    BAD_INPUT,
    FAILED,
    input_batches,
    print_json,
    print_json_list,
    print_line,
    print_lines,
    print_message,
)
from antipodes.cli.usage import naming
from antipodes.puzzles.puzzle import Puzzle
from antipodes.stores import find_named
from antipodes.system.addresses import in_shell
from antipodes.system.parameters import Given, Rule, Spell, excludes, needs, one_of
from antipodes.tables.counts import NOTHING_YET
from antipodes.tables.drawing import draw_counts, draw_moves, draw_scramble, moves_back
from antipodes.tables.json_results import pattern_matches, pattern_matches_with_path, query_answer
from antipodes.tables.look_up import look_up
from antipodes.tables.queries import Found, Matches, parsed
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import AntipodesError, InputError, PositionError, UnfinishedError
from antipodes_tasks.base.quoting import counted, shorten
from antipodes_tasks.properties.obstacles import unreachable

Positions = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="Positions, written as in the config. - reads one per line from stdin."),
]
MAX_BEFORE_THE_FIRST = 100
"""Number of invalid lines at the beginning of the input that show that it is the wrong file."""
MAX_BOARDS_DRAWN = 6
"""Maximum number of the nearest matches, and of the farthest matches, that are drawn."""


class ReadsLines:
    """The condition that the positions or moves come from standard input."""

    def holds(self, given: Given) -> bool:
        """Return whether the user asked for standard input."""
        return "-" in (given["positions"] or []) or given["moves"] == MOVE_LINES

    def written(self, given: Given, spell: Spell) -> str:
        """Return what comes from standard input."""
        return "positions on stdin"


RULES: tuple[Rule, ...] = (
    one_of("positions", "moves", "depth", "pattern", required=True),
    *needs(("count", "limit", "random", "seed"), "depth"),
    *(excludes(name, "count") for name in ("path", "as_moves")),
    *needs(("seed",), "random"),
    one_of("count", "limit", "random"),
    excludes("as_moves", "pattern", hint="; query the positions that it prints"),
    *(excludes(kind, "pattern", "count", ReadsLines()) for kind in ("svg", "png", "gif")),
)
"""Which arguments and options of the command can be given together."""
app = commands()


@command(
    app,
    "query",
    'antipodes query eight-puzzle "8 6 7 / 2 5 4 / 3 0 1"',
    'antipodes query eight-puzzle --path "1 2 3 / 4 0 5 / 7 8 6"',
    "antipodes query eight-puzzle - < positions.txt",
    "antipodes query 2x2x2 --depth 11 --random 1 --as-moves --path",
    kind=PositionsCommand,
)
@obeys(*RULES, positions="positions")
def query(
    store: Store,
    positions: Positions = None,
    path: Annotated[bool, typer.Option("--path", help="Show a shortest path to the start or goal.")] = False,
    moves: MoveSequences = None,
    depth: Annotated[int | None, typer.Option(min=0, metavar="D", help="Print all positions at distance D.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="With --depth: print only the first N.")] = None,
    random: Annotated[int | None, typer.Option(min=1, metavar="N", help="With --depth: choose N at random.")] = None,
    count: Annotated[bool, typer.Option("--count", help="With --depth: print only the number of positions.")] = False,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="Show the nearest and farthest positions that match: "
            "A for a piece, [AB] for one of several, ? for any, {ABC} for these in any order.",
        ),
    ] = None,
    as_moves: Annotated[
        bool, typer.Option("--as-moves", help="Print each position as the moves that lead to it (a scramble).")
    ] = False,
    svg: Svg = None,
    png: Png = None,
    gif: Gif = None,
    size: Size = None,
    as_json: AsJson = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="S", help="With --random: seed, to repeat the choice. [default: random]"),
    ] = None,
    puzzle: PuzzleOfStore = None,
) -> int:
    """Print distances from the start or goal, the positions at a distance, or matches of a pattern."""
    at_depth = DepthQuery(depth, count, limit, random, seed)
    pictures = PictureFiles.of(size, svg=svg, png=png, gif=gif)
    named = find_named(store, puzzle)
    with open_table(named.address, puzzle=named.puzzle) as table:
        if pattern is not None:
            _show_matches(table, pattern, path, as_json)
            return 0
        answers = QueryAnswers(table, path, as_moves, keep=bool(pictures))
        if depth is None:
            if moves == MOVE_LINES:
                found = answers.to_lines(are_moves=True)
            elif moves is None:
                found = answers.to_texts(_join_symbols(positions or [], table.puzzle))
            else:
                with naming("--moves"):
                    position = table.puzzle.follow(moves)[-1:]
                found = answers.to_positions(position)
            answers.show(found, as_json)
        else:
            # The number of pictures is known before any position is read, so too many are refused at once.
            number = at_depth.number_in(table)
            pictures.check_count(number * (depth + 1 if path else 1))
            if not (path or as_moves):
                _print_positions(table, at_depth, pictures, as_json)
                return 0
            labels = np.array(list(at_depth.positions(table)), dtype=np.uint8).reshape(-1, table.puzzle.places)
            texts = [table.puzzle.format(position) for position in labels]
            about = {"depth": depth, "count": table.layers[depth], "positions": texts}
            answers.show(answers.to_positions(labels), as_json, "answers", **about)
        pictures.draw(*answers.boards)
    return answers.status


@dataclass(frozen=True, slots=True)
class DepthQuery:
    """The options for positions at a depth."""

    depth: int | None
    count: bool
    limit: int | None
    random: int | None
    seed: int | None

    def number_in(self, table: Table) -> int:
        """Return the number of positions to show; raise UnfinishedError if the table does not reach the depth yet."""
        depth = self.depth or 0
        if depth > table.radius and not table.complete:
            end = f"depth {depth} is beyond depth {table.radius}, where the unfinished table ends"
            problem = NOTHING_YET if table.radius < 0 else end
            raise UnfinishedError(f"{problem}; resume with: antipodes resume {in_shell(table.address)}")
        size = table.layers[depth] if depth <= table.radius else 0
        if self.random is not None and 0 < size < self.random:
            print_message(f"only {counted(size, 'position')} at depth {depth}")
        return min(self.random or self.limit or size, size)

    def positions(self, table: Table) -> Iterator[Labels]:
        """Yield the positions to show; raise InputError if the table has no such depth."""
        depth = self.depth or 0
        if self.random is None:
            yield from chain.from_iterable(table.batches_at(depth, 0 if self.count else self.limit))
        else:
            size = table.layers[depth] if depth <= table.radius else 0
            yield from table.sample(depth, min(self.random, size), self.seed)


def _join_symbols(texts: list[str], puzzle: Puzzle) -> list[str]:
    """Return the positions; if the arguments are single symbols, join them into one position."""
    if len(texts) > 1 and not any(map(puzzle.is_position, texts)):
        together = " ".join(texts)
        if puzzle.is_position(together) or all(len(text.split()) == 1 for text in texts):
            return [together]
    return texts


class QueryAnswers:
    """The answers of a table. An input line without an answer is reported, and the other lines are still answered."""

    def __init__(self, table: Table, with_path: bool, as_moves: bool = False, keep: bool = False) -> None:
        if as_moves and not table.puzzle.moves.names:
            name = shorten(table.puzzle.name)
            raise InputError(f"--as-moves: the moves of {name} have no names")
        self.status = 0
        """Exit status for the worst input line so far."""
        self._kept: list[Found] | None = [] if keep else None
        self._table = table
        self._with_path = with_path
        self._as_moves = as_moves
        self._answered = self._refused = 0
        self._shows_lines = False

    def to_positions(self, positions: Labels) -> Iterator[Found]:
        """Yield the answers to positions ``(n, places)``; if any is missing, raise UnfinishedError before the first."""
        answers: list[Found] = []
        for answer in self._look_up(positions):
            if isinstance(answer, UnfinishedError):
                raise answer
            answers.append(answer)
        yield from answers

    def to_texts(self, texts: list[str]) -> Iterator[Found]:
        """Like `to_positions`, for strings; ``-`` stands for the lines of standard input."""
        before: list[str] = []
        for text in texts:
            if text == "-":
                yield from self.to_positions(self._table.puzzle.parse_many(before))
                yield from self.to_lines()
                before = []
            else:
                before.append(text)
        yield from self.to_positions(self._table.puzzle.parse_many(before))

    def to_lines(self, are_moves: bool = False) -> Iterator[Found]:
        """Yield the answers to the nonblank lines of standard input, positions or moves, as soon as they arrive."""
        end, reading = 0, PositionLines(self._table.puzzle, are_moves)
        self._shows_lines = are_moves
        for lines in input_batches():
            texts = reading.numbered(lines, end + 1)
            end += len(lines)
            positions, errors = parsed(reading.read, list(texts.values()))
            answers = self._look_up(positions)
            for at, number in enumerate(texts):
                answer = errors.get(at) or next(answers)
                if isinstance(answer, Found):
                    self._answered += 1
                    yield replace(answer, line=number)
                else:
                    self._refuse(number, answer)
            sys.stdout.flush()

    def _look_up(self, positions: Labels) -> Iterator[Found | UnfinishedError]:
        return look_up(self._table, positions, self._with_path or self._as_moves)

    def _refuse(self, line: int, error: AntipodesError) -> None:
        """Report an input line without an answer; raise InputError if none of the first lines has an answer."""
        print_message(f"line {line:,}: {error}")
        self._refused += 1
        self.status = max(self.status, BAD_INPUT if isinstance(error, PositionError) else FAILED)
        if not self._answered and self._refused == MAX_BEFORE_THE_FIRST:
            what = "a sequence of moves" if self._shows_lines else "a position"
            raise InputError(f"standard input: none of the first {line:,} lines is {what}")

    def show(self, answers: Iterable[Found], as_json: bool, key: str | None = None, **others: Any) -> None:
        """Print each answer as soon as it is known; JSON is a list, or an object of the ``others`` and a list."""
        answers = self._keep(answers)
        if as_json:
            records = (query_answer(self._table.puzzle, one, self._with_path, self._as_moves) for one in answers)
            print_json_list(records, key, **others)
        else:
            for one in answers:
                self._print(one)
        if self._refused > 1:
            print_message(f"{self._refused:,} of {self._refused + self._answered:,} lines have no answer")

    def _keep(self, answers: Iterable[Found]) -> Iterator[Found]:
        for found in answers:
            if self._kept is not None:
                self._kept.append(found)
            yield found

    def _print(self, found: Found) -> None:
        puzzle = self._table.puzzle
        if self._as_moves:
            print_line(f"{'scramble: ' * self._with_path}{draw_scramble(puzzle, found.path)}")
            if not self._with_path:
                return
        distance = unreachable(found.obstacle) if found.distance is None else str(found.distance)
        line = f"line {found.line:,}: " if self._shows_lines else ""
        print_line(f"{line}{puzzle.format(found.position)}: {distance}")
        if self._with_path and found.path is not None:
            print_path(puzzle, found.path)
            come_from = "" if puzzle.moves.reversible else puzzle.depth_zero
            print_lines(draw_moves(moves_back(puzzle, found.path), come_from))

    @property
    def boards(self) -> tuple[list[tuple[Puzzle, Labels]], list[str]]:
        """The kept positions, or all positions on their paths, as boards; and the distance of each board as caption."""
        boards: list[tuple[Puzzle, Labels]] = []
        captions: list[str] = []
        for found in self._kept or []:
            path = found.path if self._with_path else None
            shown = list(self._table.puzzle.along(found.position[None] if path is None else path))
            boards += shown
            captions += [
                "unreachable" if found.distance is None else str(found.distance - step) for step in range(len(shown))
            ]
        return boards, captions


def _print_positions(table: Table, at_depth: DepthQuery, pictures: PictureFiles, as_json: bool) -> None:
    """Print the positions at a depth, one per line, or their number."""
    positions = at_depth.positions(table)
    kept = list(positions) if pictures else []
    texts = map(table.puzzle.format, kept or positions)
    first = next(texts, None)  # raises an error if no position has this depth
    depth = at_depth.depth or 0
    count = table.layers[depth]
    if as_json:
        print_json_list(chain([] if first is None else [first], texts), "positions", depth=depth, count=count)
    elif at_depth.count:
        print_line(count)
    else:
        for text in chain([first], texts):
            print_line(text)
    pictures.draw([(table.puzzle, position) for position in kept], [str(depth)] * len(kept))


def _show_matches(table: Table, pattern: str, with_path: bool, as_json: bool) -> None:
    """Print the nearest and the farthest positions that match a pattern, and the counts by distance."""
    puzzle = table.puzzle
    with naming("--pattern"):
        matches = table.match(pattern)
    path = puzzle.rules.reversed_path(table.path(matches.nearest[0])) if with_path and matches.reached else None
    if as_json:
        if with_path:
            print_json(pattern_matches_with_path(puzzle, pattern, matches, path))
        else:
            print_json(pattern_matches(puzzle, pattern, matches))
        return
    _print_matches(table, pattern, matches)
    if path is not None:
        print_line(f"a shortest path from the {puzzle.depth_zero} to the nearest:")
        print_path(puzzle, path, [str(step) for step in range(len(path))])
        print_lines(draw_moves(puzzle.move_names(path)))


def _print_matches(table: Table, pattern: str, matches: Matches) -> None:
    fit, puzzle = counted(matches.count, "position matches", "positions match"), table.puzzle
    reached = "reachable" if table.complete else f"reached up to depth {table.radius}, where the unfinished table ends"
    print_line(f"{fit} {pattern}, {matches.reached:,} {reached}")
    if not matches.reached:
        return
    print_lines(draw_counts(matches.by_distance))
    for name, distance, positions in (
        ("nearest", min(matches.by_distance), matches.nearest),
        ("farthest", max(matches.by_distance), matches.farthest),
    ):
        print_line(f"{name}: {len(positions):,} at distance {distance}")
        print_positions(puzzle, positions[:MAX_BOARDS_DRAWN])
        if len(positions) > MAX_BOARDS_DRAWN:
            print_line(f"and {len(positions) - MAX_BOARDS_DRAWN:,} more: --json")
