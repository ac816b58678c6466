"""The routes of the service: the page, and the API under ``/api/v1``."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Annotated, Any

from fastapi import Body, FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from antipodes.drawing.image_files import png, svg
from antipodes.drawing.picture import Picture
from antipodes.puzzles.drafts import MAX_FIELDS
from antipodes.service import drafts, overview, pattern_matches, positions, schema, tiling_answers
from antipodes.service.answers import (
    JSON,
    compressed,
    is_known,
    json_bytes,
    kept_by_version,
    response_to_error,
    response_to_invalid,
    response_to_status,
)
from antipodes.service.counted_paths import CountedPaths, PathsCache, shortest_paths
from antipodes.service.graph import NEIGHBOURHOOD, WHOLE, fits_whole, graph_of, graph_view
from antipodes.service.guard import Application, Guard, Hosts
from antipodes.service.legend import legend_view
from antipodes.service.library import Library, NotThereError, Opened
from antipodes.service.limits import MAX_BATCH, MAX_SHOWN, MAX_SKIPPED, Heavy, TooManyError
from antipodes.service.static_files import INDEX, find_static_files, static_response
from antipodes.tables.table import Table
from antipodes_tasks.rules.moves import Labels

API = "/api/v1"
DEFAULT_LIMIT = 24
"""Default number of positions or tilings in an answer."""
SVG_TYPE, PNG_TYPE = "image/svg+xml", "image/png"
PNG_SCALE = 3
FAILURES: dict[int | str, dict[str, Any]] = {"4XX": {"model": schema.Failure}, "5XX": {"model": schema.Failure}}

Position = Annotated[str | None, Query(description="A position, written as in the shell. Default: the start.")]
Limit = Annotated[int, Query(ge=1, le=MAX_SHOWN)]
Depth = Annotated[int, Query(ge=0, lt=1 << 16)]
Number = Annotated[int, Path(ge=1, lt=1 << 63, description="The number of a tiling, from 1.")]
View = Callable[[Opened], Any]


def application(library: Library, hosts: Hosts) -> Application:
    """Return the application that serves the stores of a library to requests for one of the hosts."""
    app = FastAPI(
        title="antipodes",
        description="Read-only access to stores: distances of the positions of puzzles, and tilings of boards.",
        version="1",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    _add_page(app)
    _add_routes(app, f"{API}/stores", Stores(library))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _status)
    return Guard(app, hosts)


async def _invalid(request: Request, error: Any) -> Response:
    return response_to_invalid(error.errors())


async def _status(request: Request, error: Any) -> Response:
    return response_to_status(error.status_code)


def _add_page(app: FastAPI) -> None:
    """Add the routes of the page and its files; files that are created later are not served."""
    files = find_static_files()

    def index(request: Request) -> Response:
        return static_response(request, files, INDEX)

    def file(request: Request, name: str) -> Response:
        return static_response(request, files, name)

    app.add_api_route("/", index, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/static/{name:path}", file, methods=["GET", "HEAD"], include_in_schema=False)


def _add_routes(app: FastAPI, root: str, stores: "Stores") -> None:
    """Add the routes of the API."""
    routes: Mapping[str, tuple[Callable[..., Any], Any]] = {
        "": (stores.rows, list[schema.Row]),
        "/{name}": (stores.facts, schema.Facts),
        "/{name}/layers": (stores.layers, schema.Layers),
        "/{name}/antipodes": (stores.antipodes, schema.Antipodes),
        "/{name}/distance": (stores.distance, schema.Distance),
        "/{name}/view": (stores.view, schema.View),
        "/{name}/moves": (stores.moves, schema.Legend),
        "/{name}/successors": (stores.successors, list[schema.Successor]),
        "/{name}/path": (stores.path, schema.Path),
        "/{name}/random": (stores.random, schema.Distance),
        "/{name}/positions": (stores.at_depth, schema.Positions),
        "/{name}/pattern": (stores.pattern, schema.Matches),
        "/{name}/draft": (stores.form, schema.Form),
        "/{name}/graph": (stores.graph, schema.Graph),
        "/{name}/board": (stores.board, schema.Board),
        "/{name}/tilings": (stores.tilings, schema.Tilings),
        "/{name}/tilings/{number}/images": (stores.images, list[schema.Tiling]),
    }
    for path, (answer, model) in routes.items():
        app.add_api_route(root + path, answer, methods=["GET"], response_model=model, responses=FAILURES)
    drawn: Mapping[str, tuple[Callable[..., Response], str]] = {
        "/{name}/picture.svg": (stores.position_svg, SVG_TYPE),
        "/{name}/picture.png": (stores.position_png, PNG_TYPE),
        "/{name}/tilings/{number}.svg": (stores.tiling_svg, SVG_TYPE),
    }
    for path, (answer, kind) in drawn.items():
        described = {**FAILURES, 200: {"content": {kind: {}}}}
        app.add_api_route(root + path, answer, methods=["GET"], response_class=Response, responses=described)
    posted: Mapping[str, tuple[Callable[..., Response], Any]] = {
        "/{name}/distances": (stores.distances, list[schema.Distance]),
        "/{name}/draft": (stores.draft, schema.Draft),
    }
    for path, (answer, model) in posted.items():
        app.add_api_route(root + path, answer, methods=["POST"], response_model=model, responses=FAILURES)


class Stores:
    """The API of a library of stores. Each method is a route, and its parameters are the route's parameters."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._heavy = Heavy()
        self._paths = PathsCache()

    def rows(self) -> Response:
        """List the served stores."""
        return _response(json_bytes([overview.row_view(self._library, name) for name in self._library.storages]))

    def facts(self, name: str) -> Response:
        """Return a store's progress, size, and puzzle or board."""
        return self._answer(None, name, lambda opened: overview.store_view(name, opened))

    def layers(self, request: Request, name: str) -> Response:
        """Return the number of positions at each depth."""
        return self._answer(request, name, overview.layers_view)

    def antipodes(self, request: Request, name: str, limit: Limit = DEFAULT_LIMIT) -> Response:
        """Return the positions that are farthest from the start."""
        return self._answer(request, name, lambda opened: overview.antipodes_view(opened.search, limit))

    def distance(self, request: Request, name: str, position: Position = None) -> Response:
        """Return the distance of a position."""
        return self._of_position(request, name, position, positions.distance_view)

    async def view(
        self,
        request: Request,
        name: str,
        position: Position = None,
        moves: Annotated[str | None, Query(description="Moves to make first, from the position or the start.")] = None,
        index: Annotated[int | None, Query(ge=0, lt=1 << 63, description="Index, instead of a position.")] = None,
    ) -> Response:
        """Return a position, its distance and picture, and its successors."""

        def view(opened: Opened) -> Any:
            asked = positions.position_asked(opened.table, position, index)
            if moves is None:
                return positions.table_view(opened.table, asked)
            return positions.followed_view(opened.table, asked, moves)

        if moves is None:
            return await run_in_threadpool(self._answer, request, name, view)
        return await self._heavily(request, name, view)  # thousands of moves take seconds

    def moves(self, request: Request, name: str) -> Response:
        """Return the meaning of the names of moves, and the moves that turn each sticker of a net."""
        return self._answer(
            request, name, lambda opened: opened.compute_once("moves", lambda: legend_view(opened.puzzle))
        )

    def successors(self, request: Request, name: str, position: Position = None) -> Response:
        """Return the successors of a position, and how much closer or farther each one is."""
        return self._of_position(request, name, position, positions.successors_view)

    def path(
        self,
        request: Request,
        name: str,
        position: Position = None,
        number: Annotated[str | None, Query(description="Number of the shortest path, from 1.")] = None,
    ) -> Response:
        """Return a shortest path from a position to the start, and the number of shortest paths."""

        def view(opened: Opened) -> Any:
            table = opened.table
            asked = positions.position_asked(table, position)

            def paths(distance: int) -> CountedPaths | None:
                key = name, opened.version, asked.tobytes()
                return self._paths.get(key, lambda: shortest_paths(table, asked, distance))

            return positions.path_view(table, asked, paths, positions.path_number(number))

        return self._answer(request, name, view)

    def random(
        self,
        name: str,
        depth: Annotated[int | None, Query(ge=0, lt=1 << 16, description="Depth. Default: any.")] = None,
        seed: Annotated[int | None, Query(ge=0, lt=1 << 63, description="Seed, to repeat the same draw.")] = None,
    ) -> Response:
        """Return a random position, uniformly distributed over a depth or over all positions."""
        return self._answer(None, name, lambda opened: positions.random_view(opened.table, depth, seed))

    def at_depth(
        self,
        request: Request,
        name: str,
        depth: Depth,
        first: Annotated[int, Query(ge=0, le=MAX_SKIPPED, description="Number of positions to skip.")] = 0,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Response:
        """Return positions at a depth, in the order of their indices."""
        return self._answer(request, name, lambda opened: positions.positions_view(opened.table, depth, first, limit))

    async def pattern(self, request: Request, name: str, pattern: str) -> Response:
        """Return how many positions match a pattern at each distance, and the closest and farthest of them."""
        return await self._heavily(request, name, lambda opened: pattern_matches.pattern_view(opened.table, pattern))

    async def graph(
        self,
        request: Request,
        name: str,
        position: Position = None,
        limit: Annotated[
            int, Query(ge=1, le=WHOLE, description="Maximum number of nodes of a neighbourhood.")
        ] = NEIGHBOURHOOD,
    ) -> Response:
        """Return the whole graph of a small table, or the neighbourhood of a position in a larger table."""

        def view(opened: Opened) -> Any:
            return _graph(opened, position, limit)

        return await self._heavily(request, name, view)

    def board(self, request: Request, name: str) -> Response:
        """Return a board and its pieces."""
        return self._answer(request, name, lambda opened: tiling_answers.board_view(opened.tilings))

    def tilings(
        self,
        request: Request,
        name: str,
        first: Annotated[int, Query(ge=0, lt=1 << 63, description="Number of tilings to skip.")] = 0,
        limit: Limit = DEFAULT_LIMIT,
        where: Annotated[
            list[str] | None, Query(max_length=100, description='Conditions such as "X covers 23".')
        ] = None,
    ) -> Response:
        """Return the tilings that satisfy all conditions, or all tilings."""

        def view(opened: Opened) -> Any:
            return tiling_answers.chosen_view(opened.tilings, first, limit, where or [])

        return self._answer(request, name, view)

    def images(self, request: Request, name: str, number: Number) -> Response:
        """Return the symmetric images of a tiling, including the tiling itself."""
        return self._answer(request, name, lambda opened: tiling_answers.images_view(opened.tilings, number))

    def tiling_svg(self, request: Request, name: str, number: Number) -> Response:
        """Return the picture of a tiling."""
        drawn = _drawn_as_svg(lambda opened: tiling_answers.picture_of(opened.tilings, number))
        return self._answer(request, name, drawn, SVG_TYPE)

    def position_svg(self, request: Request, name: str, position: Position = None) -> Response:
        """Return the picture of a position."""
        return self._answer(request, name, _drawn_as_svg(_picture_of(position)), SVG_TYPE)

    def position_png(self, request: Request, name: str, position: Position = None) -> Response:
        """Return the picture of a position at three times its size; this needs Pillow."""
        picture = _picture_of(position)
        return self._answer(request, name, lambda opened: _drawn_as_png(picture(opened)), PNG_TYPE)

    def distances(
        self,
        name: str,
        asked: Annotated[list[str], Body(alias="positions", embed=True, max_length=MAX_BATCH)],
    ) -> Response:
        """Return the distance of each of many positions."""
        return self._answer(None, name, lambda opened: positions.distances_view(opened.table, asked))

    def form(self, request: Request, name: str, position: Position = None) -> Response:
        """Return the form for editing a position: its fields, filled in, and the symbols that they may hold."""
        return self._of_position(request, name, position, drafts.form_view)

    def draft(
        self,
        name: str,
        asked: Annotated[list[str], Body(alias="symbols", embed=True, max_length=MAX_FIELDS)],
    ) -> Response:
        """Return whether a draft (a symbol for each field) is a position that the table has reached, or why not."""
        return self._answer(None, name, lambda opened: drafts.draft_view(opened.table, asked))

    def _of_position(
        self,
        request: Request,
        name: str,
        position: str | None,
        view: Callable[[Table, Labels], Any],
    ) -> Response:
        """Return the view of a position of a table; the default position is the start."""

        def viewed(opened: Opened) -> Any:
            return view(opened.table, positions.position_asked(opened.table, position))

        return self._answer(request, name, viewed)

    async def _heavily(self, request: Request, name: str, view: View) -> Response:
        """Answer like `_answer`, but in one of the threads for slow views."""
        try:
            return await self._heavy.run(lambda: self._answer(request, name, view))
        except TooManyError as error:
            return response_to_error(error)

    def _answer(self, request: Request | None, name: str, view: View, media_type: str = JSON) -> Response:
        """Return the view of a store as a response: bytes, or a value as JSON.

        If the store is finished, a browser may cache the answer to a ``request`` until the store's version changes.
        """
        try:
            version = self._library.version(name)
            if request is not None and is_known(request, version):
                return Response(status_code=304, headers=kept_by_version(version))
            value, opened = self._library.answer(name, lambda opened: (view(opened), opened))
            content = value if isinstance(value, bytes) else json_bytes(value)
        except Exception as error:
            return response_to_error(error)
        kept = request is not None and opened.manifest.complete
        response = _response(content, media_type, opened.version if kept else None)
        return response if request is None else compressed(request, response)


def _response(content: bytes, media_type: str = JSON, version: str | None = None) -> Response:
    """Return a response; a browser may cache it until the store's version changes, or never if there is no version."""
    headers = {"cache-control": "no-store"} if version is None else kept_by_version(version)
    return Response(content, headers=headers, media_type=media_type)


def _graph(opened: Opened, position: str | None, limit: int) -> bytes:
    """Return the graph as JSON; the whole graph is computed only once."""
    table = opened.table
    if not fits_whole(table):
        return json_bytes(graph_view(table, graph_of(table, position, limit)))
    if position is not None:
        table.puzzle.parse(position)
    return opened.compute_once("graph", lambda: json_bytes(graph_view(table, graph_of(table))))


def _picture_of(position: str | None) -> Callable[[Opened], Picture]:
    """Return a function that draws a position of a store's puzzle, by default the start."""

    def picture(opened: Opened) -> Picture:
        puzzle = opened.puzzle
        return puzzle.picture(puzzle.rules.first if position is None else puzzle.parse(position))

    return picture


def _drawn_as_png(picture: Picture) -> bytes:
    if find_spec("PIL") is None:
        raise NotThereError("picture.png needs Pillow, which the extra 'pictures' installs; picture.svg is available")
    return png(picture, PNG_SCALE)


def _drawn_as_svg(picture: Callable[[Opened], Picture]) -> View:
    return lambda opened: svg(picture(opened)).encode()
