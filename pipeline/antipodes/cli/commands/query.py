"""``antipodes query``: the distances of positions, shortest paths, and the positions at a depth."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.answers import Answers, Asked, asked
from antipodes.cli.command import PositionsCommand, add
from antipodes.cli.loading import loading
from antipodes.cli.matches import show_matches
from antipodes.cli.options import AsJson, Given, MoveSequence, Store
from antipodes.cli.output import print_json_list, say
from antipodes.cli.pictures import Gif, PictureFiles, Png, Size, Svg
from antipodes.storage.address import in_shell
from antipodes.stores.named import find_store
from antipodes_tasks.errors import InputError, UnfinishedError
from antipodes_tasks.quoting import counted

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.tables.table import Table
    from antipodes_tasks.rules.moves import Labels

Positions = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="Positions as in the config; - reads one per line from stdin."),
]


@dataclass(frozen=True, slots=True)
class AtDepth:
    """The options about the positions at a depth."""

    depth: int | None
    count: bool
    limit: int | None
    random: int | None
    seed: int | None

    def check(self, with_paths: dict[str, bool]) -> None:
        """Raise InputError for options that do not go together."""
        given = {"--count": self.count, "--limit": self.limit, "--random": self.random, "--seed": self.seed}
        chosen = [name for name, value in given.items() if value not in (None, False)]
        if self.depth is None and chosen:
            raise InputError(f"{chosen[0]}: expected a --depth, found none")
        for name, is_given in with_paths.items():
            if self.count and is_given:
                raise InputError(f"{name}: not with --count")
        if self.random is None and self.seed is not None:
            raise InputError("--seed: expected --random, found none")
        which = [name for name in chosen if name != "--seed"]
        if len(which) > 1:
            raise InputError(f"expected one of --count, --limit and --random, found {' and '.join(which)}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Queries",
        "query",
        query,
        'antipodes query eight-puzzle "8 6 7 / 2 5 4 / 3 0 1"',
        'antipodes query eight-puzzle --path "1 2 3 / 4 0 5 / 7 8 6"',
        "antipodes query eight-puzzle - < positions.txt",
        "antipodes query 2x2x2 --depth 11 --random 1 --as-moves --path",
        kind=PositionsCommand,
    )


def query(
    store: Store,
    positions: Positions = None,
    path: Annotated[bool, typer.Option("--path", help="Show a shortest path to the start or goal.")] = False,
    moves: MoveSequence = None,
    depth: Annotated[
        int | None, typer.Option(min=0, metavar="D", help="Instead of positions: print all positions at distance D.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="With --depth: only the first N.")] = None,
    random: Annotated[int | None, typer.Option(min=1, metavar="N", help="With --depth: N drawn at random.")] = None,
    count: Annotated[bool, typer.Option("--count", help="With --depth: only how many there are.")] = False,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="Instead of positions: show the nearest and farthest matches: "
            "A this piece, [AB] one of them, ? any, {ABC} these in any order.",
        ),
    ] = None,
    as_moves: Annotated[
        bool, typer.Option("--as-moves", help="Print the moves that lead to each position, as a scramble.")
    ] = False,
    svg: Svg = None,
    png: Png = None,
    gif: Gif = None,
    size: Size = None,
    as_json: AsJson = False,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="S", help="With --random: draw the same again. [default: others]")
    ] = None,
    puzzle: Given = None,
) -> int:
    """Print distances from the start or goal, the positions at a distance, or matches of a pattern."""
    _check_one(positions, moves, pattern, depth)
    chosen = AtDepth(depth, count, limit, random, seed)
    chosen.check({"--path": path, "--as-moves": as_moves})
    if pattern is not None and as_moves:
        raise InputError("--as-moves: not with --pattern; query the positions that it prints")
    pictures = PictureFiles.of(svg, png, gif, size)
    unfit = {"--pattern": pattern is not None, "--count": count, "positions on stdin": "-" in (positions or [])}
    pictures.check_not_with(unfit)
    with loading():
        from antipodes.tables.table import open_table

    with open_table(find_store(store, puzzle)) as table:
        if pattern is not None:
            show_matches(table, pattern, path, as_json)
        elif depth is not None:
            shown = _at_depth(table, store, depth, chosen)
            pictures.check_count(shown.number * (depth + 1 if path else 1))
            if path or as_moves:
                answers = Answers(table, path, as_moves, keep=bool(pictures))
                texts = [table.puzzle.format(position) for position in shown.positions]
                about = {"depth": depth, "count": shown.count, "positions": texts}
                status = answers.show([Asked(texts)], as_json, "answers", **about)
                pictures.draw(*answers.boards)
                return status
            _print_positions(table, shown, chosen.count, pictures, as_json)
        else:
            if moves is not None:
                positions = [table.puzzle.format(table.puzzle.follow(moves)[-1])]
            answers = Answers(table, path, as_moves, keep=bool(pictures))
            status = answers.show(asked(_together(positions or [], table.puzzle)), as_json)
            pictures.draw(*answers.boards)
            return status
    return 0


def _check_one(positions: list[str] | None, moves: str | None, pattern: str | None, depth: int | None) -> None:
    """Raise InputError unless exactly one of them was given; no positions are none."""
    given = {"positions": positions or None, "--moves": moves, "--pattern": pattern, "--depth": depth}
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        found = " and ".join(names) or "none of them"
        raise InputError(f"expected positions, --moves, --depth or a --pattern, found {found}")


def _together(positions: list[str], puzzle: "Puzzle") -> list[str]:
    """The positions; symbols that came as separate arguments are one position."""
    if len(positions) > 1 and not any(map(puzzle.is_position, positions)):
        together = " ".join(positions)
        if puzzle.is_position(together) or all(len(text.split()) == 1 for text in positions):
            return [together]
    return positions


@dataclass(frozen=True, slots=True)
class Shown:
    """The positions at a depth that were asked for."""

    depth: int
    count: int
    """How many there are at the depth."""
    number: int
    """How many of them were asked for."""
    positions: "Iterator[Labels]"


def _at_depth(table: "Table", store: str, depth: int, chosen: AtDepth) -> Shown:
    """The positions at a depth; UnfinishedError where the table does not reach it yet."""
    if depth > table.radius and not table.complete:
        raise UnfinishedError(
            f"expected a depth up to {table.radius}, where the unfinished table ends, found {depth}: "
            f"antipodes resume {in_shell(find_store(store))}"
        )
    size = table.layers[depth] if 0 <= depth <= table.radius else 0
    if chosen.random is not None and 0 < size < chosen.random:
        say(f"only {counted(size, 'position')} at depth {depth}")
    number = min(chosen.random or chosen.limit or size, size)
    return Shown(depth, size, number, chain.from_iterable(_batches(table, depth, chosen)))


def _print_positions(table: "Table", shown: Shown, only_count: bool, pictures: PictureFiles, as_json: bool) -> None:
    """Print the positions at a depth, one a line, or how many there are."""
    kept = list(shown.positions) if pictures else []
    texts = map(table.puzzle.format, kept or shown.positions)
    first = next(texts, None)  # raises where there is no such depth
    if as_json:
        print_json_list(
            chain([] if first is None else [first], texts), "positions", depth=shown.depth, count=shown.count
        )
    elif only_count:
        print(shown.count)
    else:
        for text in chain([first], texts):
            print(text)
    pictures.draw([(table.puzzle, position) for position in kept], [str(shown.depth)] * len(kept))


def _batches(table: "Table", depth: int, chosen: AtDepth) -> "Iterator[Iterable[Labels]]":
    """The positions that were asked for, many at a time."""
    if chosen.random is not None:
        yield table.sample(depth, min(chosen.random, table.layers[depth]), chosen.seed)
    else:
        yield from table.batches_at(depth, 0 if chosen.count else chosen.limit)
