"""The routes of the service, under ``/api/v1``, and the page."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError

from antipodes.service import positions
from antipodes.service.answers import (
    JSON,
    is_known,
    json_bytes,
    json_response,
    kept_by_version,
    response_to_error,
    response_to_invalid,
    response_to_status,
)
from antipodes.service.guard import Application, Guard, Hosts
from antipodes.service.library import Library, Opened
from antipodes.service.overview import antipodes_view, layers_view, row_view, store_view
from antipodes.service.static_files import INDEX, find_static_files, static_response

API = "/api/v1"
MOST_SHOWN = 200
"""Positions or tilings of one answer."""
SHOWN = 24
"""How many that are by default."""
Position = Annotated[str | None, Query(description="A position, written as in the shell. [default: the start]")]
Limit = Annotated[int, Query(ge=1, le=MOST_SHOWN)]


def application(library: Library, hosts: Hosts) -> Application:
    """The service of some stores, for requests that name one of the hosts."""
    app = FastAPI(
        title="antipodes",
        description="Distances of the positions of puzzles, and tilings of boards, from their stores; read only.",
        version="1",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    Routes(library).add_to(app)
    Page().add_to(app)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(404, _status)
    app.add_exception_handler(405, _status)
    return Guard(app, hosts)


async def _invalid(request: Request, error: Any) -> Response:
    return response_to_invalid(error.errors())


async def _status(request: Request, error: Any) -> Response:
    return response_to_status(error.status_code)


class Page:
    """The files of the page."""

    def __init__(self) -> None:
        self._files = find_static_files()

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        app.add_api_route("/", self.index, methods=["GET", "HEAD"], include_in_schema=False)
        app.add_api_route("/static/{name:path}", self.file, methods=["GET", "HEAD"], include_in_schema=False)

    def index(self, request: Request) -> Response:
        """The page."""
        return static_response(request, self._files, INDEX)

    def file(self, request: Request, name: str) -> Response:
        """A file of the page."""
        return static_response(request, self._files, name)


class Routes:
    """The routes of the API; each answers from the library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        store = f"{API}/stores/{{name}}"
        routes: dict[str, Callable[..., Response]] = {
            f"{API}/stores": self.stores,
            store: self.store,
            f"{store}/layers": self.layers,
            f"{store}/antipodes": self.antipodes,
            f"{store}/distance": self.distance,
            f"{store}/view": self.view,
            f"{store}/successors": self.successors,
            f"{store}/path": self.path,
            f"{store}/random": self.random,
            f"{store}/positions": self.positions_at,
        }
        for path, endpoint in routes.items():
            app.add_api_route(path, endpoint, methods=["GET"])
        app.add_api_route(f"{store}/distances", self.distances, methods=["POST"])

    def stores(self) -> Response:
        """The served stores."""
        return json_response([row_view(self._library, name) for name in self._library.storages])

    def store(self, request: Request, name: str) -> Response:
        """What is known of a store."""
        return self._answer(name, lambda opened: store_view(name, opened))

    def layers(self, request: Request, name: str) -> Response:
        """The number of positions at each depth."""
        return self._answer(name, layers_view, request)

    def antipodes(self, request: Request, name: str, limit: Limit = SHOWN) -> Response:
        """The positions that are farthest from the start."""
        return self._answer(name, lambda opened: antipodes_view(opened.search, limit), request)

    def distance(self, request: Request, name: str, position: Position = None) -> Response:
        """The distance of a position."""

        def view(opened: Opened) -> Any:
            return positions.distance_view(opened.table, positions.position_asked(opened.table, position))

        return self._answer(name, view, request)

    def view(
        self,
        request: Request,
        name: str,
        position: Position = None,
        moves: Annotated[str | None, Query(description="The moves that lead to the position.")] = None,
        index: Annotated[int | None, Query(ge=0, description="The number of the position.")] = None,
    ) -> Response:
        """A position, its distance, its picture, and where each move leads."""

        def view(opened: Opened) -> Any:
            asked = positions.position_asked(opened.table, position, moves, index)
            return positions.table_view(opened.table, asked)

        return self._answer(name, view, request)

    def successors(self, request: Request, name: str, position: Position = None) -> Response:
        """Where each move leads, and how much nearer or farther that is."""

        def view(opened: Opened) -> Any:
            return positions.successors_view(opened.table, positions.position_asked(opened.table, position))

        return self._answer(name, view, request)

    def path(self, request: Request, name: str, position: Position = None) -> Response:
        """A shortest path from a position to the start."""

        def view(opened: Opened) -> Any:
            return positions.path_view(opened.table, positions.position_asked(opened.table, position))

        return self._answer(name, view, request)

    def random(
        self,
        name: str,
        depth: Annotated[int | None, Query(ge=0)] = None,
        seed: Annotated[int | None, Query(ge=0)] = None,
    ) -> Response:
        """A random position."""
        return self._answer(name, lambda opened: positions.random_view(opened.table, depth, seed))

    def positions_at(
        self,
        request: Request,
        name: str,
        depth: Annotated[int, Query(ge=0)],
        first: Annotated[int, Query(ge=0, le=100_000)] = 0,
        limit: Limit = SHOWN,
    ) -> Response:
        """Positions at a depth."""
        return self._answer(name, lambda opened: positions.positions_view(opened.table, depth, first, limit), request)

    def distances(
        self,
        name: str,
        asked: Annotated[list[str], Body(alias="positions", embed=True, max_length=10_000)],
    ) -> Response:
        """The distance of each of many positions."""
        return self._answer(name, lambda opened: positions.distances_view(opened.table, asked))

    def _answer(self, name: str, view: Callable[[Opened], Any], request: Request | None = None) -> Response:
        """The view of a store as JSON; of a finished store, browsers may keep the answer to a ``request``."""
        try:
            version = self._library.version(name)
            if request is not None and is_known(request, version):
                return Response(status_code=304, headers=kept_by_version(version))
            value, version, complete = self._library.answer(
                name, lambda opened: (view(opened), opened.version, opened.manifest.complete)
            )
        except Exception as error:
            return response_to_error(error)
        if request is None or not complete:
            return json_response(value)
        return Response(json_bytes(value), headers=kept_by_version(version), media_type=JSON)
