"""The endpoints that answer questions about a store: their addresses and parameters.

The function of an endpoint returns a question about a store. The parameters of the function are the parameters of the
request, and the annotation of the question's answer is the description of the answer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import Signature
from typing import Annotated, Any

from fastapi import Body, Path, Query

from antipodes.drawing.image_files import png, svg
from antipodes.drawing.picture import Picture
from antipodes.puzzles.drafts import MAX_FIELDS
from antipodes.service import editor, overview, pattern_matches, positions, tiling_answers
from antipodes.service.answers import JSON
from antipodes.service.counted_paths import CountedPaths, shortest_paths
from antipodes.service.encoded_answers import Encoded, encoded
from antipodes.service.graph import NEIGHBOURHOOD, WHOLE, DrawnGraph, fits_whole, graph_of, graph_view
from antipodes.service.legend import Legend, legend_view
from antipodes.service.library import NotThereError, Opened, Question, Slow
from antipodes.service.limits import MAX_BATCH, MAX_SHOWN, MAX_SKIPPED, Answer
from antipodes.system.declared_questions import DeclaredQuestion
from antipodes.tables.json_results import LayerCounts
from antipodes.tables.questions import QUESTIONS
from antipodes.tables.table import Table
from antipodes_tasks.base.array_types import Labels

DEFAULT_LIMIT = 24
"""Default number of positions or tilings in an answer."""
SVG_TYPE, PNG_TYPE = "image/svg+xml", "image/png"
PNG_SCALE = 3

Position = Annotated[str | None, Query(description="A position, written as in the shell. Default: the start.")]
Limit = Annotated[int, Query(ge=1, le=MAX_SHOWN)]
Depth = Annotated[int, Query(ge=0, lt=1 << 16)]
Where = Annotated[list[str] | None, Query(max_length=100, description='Conditions such as "X covers 23".')]
Number = Annotated[int, Path(ge=1, lt=1 << 63, description="The number of a tiling, from 1.")]


def facts() -> Question[overview.Facts]:
    """Return a store's progress, size, and puzzle or board."""
    return overview.store_view


def layers() -> Question[LayerCounts]:
    """Return the number of positions at each depth."""
    return overview.layers_view


def antipodes(limit: Limit = DEFAULT_LIMIT) -> Question[overview.Antipodes]:
    """Return the positions that are farthest from the start."""
    return lambda opened: overview.antipodes_view(opened.search, limit)


def distance(position: Position = None) -> Question[positions.Distance]:
    """Return the distance of a position."""
    return _of_position(position, positions.distance_view)


def view(
    position: Position = None,
    moves: Annotated[str | None, Query(description="Moves to make first, from the position or the start.")] = None,
    index: Annotated[int | None, Query(ge=0, lt=1 << 63, description="Index, instead of a position.")] = None,
) -> Question[positions.View]:
    """Return a position, its distance and picture, and its successors."""

    def answer(opened: Opened) -> positions.View:
        asked = positions.position_asked(opened.table, position, index)
        if moves is None:
            return positions.table_view(opened.table, asked)
        return positions.followed_view(opened.table, asked, moves)

    return answer if moves is None else Slow(answer)  # thousands of moves take seconds


def moves() -> Question[Legend]:
    """Return the meaning of the names of moves, and the moves that turn each sticker of a net."""
    return lambda opened: opened.compute_once("moves", lambda: legend_view(opened.puzzle))


def successors(position: Position = None) -> Question[list[positions.Successor]]:
    """Return the successors of a position, and how much closer or farther each one is."""
    return _of_position(position, positions.successors_view)


def path(
    position: Position = None,
    number: Annotated[str | None, Query(description="Number of the shortest path, from 1.")] = None,
) -> Question[positions.Path]:
    """Return a shortest path from a position to the start, and the number of shortest paths."""

    def answer(opened: Opened) -> positions.Path:
        table = opened.table
        asked = positions.position_asked(table, position)

        def paths(distance: int) -> CountedPaths | None:
            key = opened.name, opened.version, asked.tobytes()
            return opened.paths.get(key, lambda _: shortest_paths(table, asked, distance))

        return positions.path_view(table, asked, paths, positions.path_number(number))

    return answer


def random(
    depth: Annotated[int | None, Query(ge=0, lt=1 << 16, description="Depth. Default: any.")] = None,
    seed: Annotated[int | None, Query(ge=0, lt=1 << 63, description="Seed, to repeat the same choice.")] = None,
) -> Question[positions.Distance]:
    """Return a random position, uniformly distributed over a depth or over all positions."""
    return lambda opened: positions.random_view(opened.table, depth, seed)


def at_depth(
    depth: Depth,
    first: Annotated[int, Query(ge=0, le=MAX_SKIPPED, description="Number of positions to skip.")] = 0,
    limit: Limit = DEFAULT_LIMIT,
) -> Question[positions.Positions]:
    """Return positions at a depth, in the order of their indices."""
    return lambda opened: positions.positions_view(opened.table, depth, first, limit)


def pattern(pattern: str) -> Question[pattern_matches.PicturedMatches]:
    """Return how many positions match a pattern at each distance, and the closest and farthest of them."""
    return Slow(lambda opened: pattern_matches.pattern_view(opened.table, pattern))


def graph(
    position: Position = None,
    limit: Annotated[
        int, Query(ge=1, le=WHOLE, description="Maximum number of nodes of a neighbourhood.")
    ] = NEIGHBOURHOOD,
) -> Question[Encoded[DrawnGraph]]:
    """Return the whole graph of a small table, or the neighbourhood of a position in a larger table."""

    def answer(opened: Opened) -> Encoded[DrawnGraph]:
        table = opened.table
        if not fits_whole(table):
            return encoded(graph_view(table, graph_of(table, position, limit)))
        if position is not None:
            table.puzzle.parse(position)
        return opened.compute_once("graph", lambda: encoded(graph_view(table, graph_of(table))))

    return Slow(answer)


def board() -> Question[tiling_answers.TiledBoard]:
    """Return a board and its pieces."""
    return lambda opened: tiling_answers.board_view(opened.tilings)


def tilings(
    first: Annotated[int, Query(ge=0, lt=1 << 63, description="Number of tilings to skip.")] = 0,
    limit: Limit = DEFAULT_LIMIT,
    where: Where = None,
) -> Question[tiling_answers.ChosenTilings]:
    """Return the tilings of which a symmetric copy satisfies all conditions, or all tilings."""
    return lambda opened: tiling_answers.chosen_view(opened.tilings, first, limit, where or [])


def images(number: Number, where: Where = None) -> Question[list[tiling_answers.TilingImage]]:
    """Return the symmetric images of a tiling, including the tiling itself, and whether they satisfy conditions."""
    return lambda opened: tiling_answers.images_view(opened.tilings, number, where or [])


def tiling_svg(number: Number) -> Question[bytes]:
    """Return the picture of a tiling."""
    return lambda opened: svg(tiling_answers.picture_of(opened.tilings, number)).encode()


def position_svg(position: Position = None) -> Question[bytes]:
    """Return the picture of a position."""
    return lambda opened: svg(_picture_of(opened, position)).encode()


def position_png(position: Position = None) -> Question[bytes]:
    """Return the picture of a position at three times its size; this needs Pillow."""
    return lambda opened: _drawn_as_png(_picture_of(opened, position))


def distances(
    asked: Annotated[list[str], Body(alias="positions", embed=True, max_length=MAX_BATCH)],
) -> Question[list[positions.Distance]]:
    """Return the distance of each of many positions."""
    return lambda opened: positions.distances_view(opened.table, asked)


def form(position: Position = None) -> Question[editor.FilledForm]:
    """Return the form for editing a position: its fields, filled in, and the symbols that they may hold."""
    return _of_position(position, editor.form_view)


def draft(
    asked: Annotated[list[str], Body(alias="symbols", embed=True, max_length=MAX_FIELDS)],
) -> Question[editor.Draft]:
    """Return whether a draft (a symbol for each field) is a position that the table has reached, or why not."""
    return lambda opened: editor.draft_view(opened.table, asked)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address below the address of a store."""

    path: str
    ask: Callable[..., Question[Any]]
    method: str = "GET"
    is_cached: bool = True
    """Whether browsers may cache the answers about finished stores."""
    media_type: str = JSON
    """The type of the answer; an answer that is not JSON consists of bytes."""


def _declared(question: DeclaredQuestion) -> Callable[..., Question[Any]]:
    """Return the function of the endpoint of a declared question."""

    def ask(**given: Any) -> Question[Any]:
        return Slow(lambda opened: question.method(opened.table, **question.check(given, str)))

    parameters = [
        argument.replace(
            annotation=Annotated[
                argument.annotation,
                Query(ge=declared.kind.minimum, le=declared.kind.maximum, description=declared.help),
            ]
        )
        for name, (argument, declared) in question.parameters.items()
        if declared.over_http
    ]
    ask.__name__, ask.__doc__ = question.name, question.help
    answer: Any = Question
    vars(ask)["__signature__"] = Signature(parameters, return_annotation=answer[question.record])
    return ask


ENDPOINTS = (
    Endpoint("", facts, is_cached=False),
    Endpoint("/layers", layers),
    Endpoint("/antipodes", antipodes),
    Endpoint("/distance", distance),
    Endpoint("/view", view),
    Endpoint("/moves", moves),
    Endpoint("/successors", successors),
    Endpoint("/path", path),
    Endpoint("/random", random, is_cached=False),
    Endpoint("/positions", at_depth),
    Endpoint("/pattern", pattern),
    Endpoint("/draft", form),
    Endpoint("/graph", graph),
    Endpoint("/board", board),
    Endpoint("/tilings", tilings),
    Endpoint("/tilings/{number}/images", images),
    Endpoint("/picture.svg", position_svg, media_type=SVG_TYPE),
    Endpoint("/picture.png", position_png, media_type=PNG_TYPE),
    Endpoint("/tilings/{number}.svg", tiling_svg, media_type=SVG_TYPE),
    *(Endpoint(f"/{one.name}", _declared(one)) for one in QUESTIONS),
    Endpoint("/distances", distances, method="POST", is_cached=False),
    Endpoint("/draft", draft, method="POST", is_cached=False),
)


def _of_position(position: str | None, answer: Callable[[Table, Labels], Answer]) -> Question[Answer]:
    """Return the question about a position of a table; the default position is the start."""
    return lambda opened: answer(opened.table, positions.position_asked(opened.table, position))


def _picture_of(opened: Opened, position: str | None) -> Picture:
    """Return the picture of a position of a store's puzzle, by default of the start."""
    puzzle = opened.puzzle
    return puzzle.picture(puzzle.rules.first if position is None else puzzle.parse(position))


def _drawn_as_png(picture: Picture) -> bytes:
    if find_spec("PIL") is None:
        raise NotThereError("picture.png needs Pillow, which the extra 'pictures' installs; picture.svg is available")
    return png(picture, PNG_SCALE)
