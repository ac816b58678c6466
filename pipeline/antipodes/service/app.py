"""The application of the service: the page, and the API under ``/api/v1``."""

import hashlib
import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from antipodes.service import overview
from antipodes.service.answers import (
    JSON,
    Failure,
    compressed,
    is_known,
    kept_by_version,
    response_to_error,
    response_to_invalid,
    response_to_status,
)
from antipodes.service.encoded_answers import json_text
from antipodes.service.endpoints import ENDPOINTS, Endpoint
from antipodes.service.guard import Application, Guard, Hosts
from antipodes.service.library import Library, Question, Slow
from antipodes.service.limits import Heavy, TooManyError

FOLDER = Path(__file__).parent / "static"
INDEX = "index.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
"""The media type of each kind of file; other files are not served."""

KEPT = {"cache-control": "public, max-age=31536000, immutable"}
"""Headers that let a browser keep a file for a year without asking again."""


def read_static_files() -> dict[str, bytes]:
    """Return the files of the page, which are part of the package, by name: a relative path with slashes.

    They are read once, so that all that a page loads belongs together, and no request can name another path.
    """
    found = (path for path in sorted(FOLDER.rglob("*")) if path.suffix in TYPES and path.is_file())
    return {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in found}


API = "/api/v1"
STORES = f"{API}/stores"
FAILURES: dict[int | str, dict[str, Any]] = {"4XX": {"model": Failure}, "5XX": {"model": Failure}}


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
    _add_api(app, Stores(library))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _status)
    return Guard(app, hosts)


async def _invalid(request: Request, error: Any) -> Response:
    return response_to_invalid(error.errors())


async def _status(request: Request, error: Any) -> Response:
    return response_to_status(error.status_code)


def _add_page(app: FastAPI) -> None:
    """Add the routes of the page and its files.

    The addresses of the files contain their version. So a browser asks only for the page, which names them, again.
    """
    files = read_static_files()
    version = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
    page = files.pop(INDEX).replace(b'="static/', f'="static/{version}/'.encode())

    def index(request: Request) -> Response:
        headers = kept_by_version(version)
        if is_known(request, version):
            return Response(status_code=304, headers=headers)
        return Response(page, headers=headers, media_type=TYPES[".html"])

    def file(asked: str, name: str) -> Response:
        if name not in files:
            return response_to_status(404)
        # A page of an earlier version, which a browser still shows, gets the file of this one.
        headers = KEPT if asked == version else kept_by_version(version)
        return Response(files[name], headers=headers, media_type=TYPES[Path(name).suffix])

    app.add_api_route("/", index, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/static/{asked}/{name:path}", file, methods=["GET", "HEAD"], include_in_schema=False)


def _add_api(app: FastAPI, stores: "Stores") -> None:
    """Add the list of stores and the endpoints of each store."""
    app.add_api_route(STORES, stores.rows, response_model=list[overview.Row], responses=FAILURES)
    for endpoint in ENDPOINTS:
        is_json = endpoint.media_type == JSON
        drawn: dict[int | str, dict[str, Any]] = {200: {"content": {endpoint.media_type: {}}}}
        app.add_api_route(
            f"{STORES}/{{name}}{endpoint.path}",
            stores.route(endpoint),
            methods=[endpoint.method],
            response_model=_answer_of(endpoint) if is_json else None,
            response_class=JSONResponse if is_json else Response,
            responses=FAILURES if is_json else {**FAILURES, **drawn},
        )


def _answer_of(endpoint: Endpoint) -> Any:
    """Return the type of an endpoint's answer, which describes the answer in the API."""
    return get_args(inspect.signature(endpoint.ask).return_annotation)[-1]


class Stores:
    """The API of a library of stores."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._heavy = Heavy()

    def rows(self) -> Response:
        """List the served stores."""
        return _response(_content([overview.row_view(self._library, name) for name in self._library.storages]))

    def route(self, endpoint: Endpoint) -> Callable[..., Any]:
        """Return the function that answers requests.

        Its parameters are the request, the name of the store, and the parameters of the endpoint.
        """

        async def answer(request: Request, name: str, **parameters: Any) -> Response:
            question = endpoint.ask(**parameters)
            work = partial(self._answer, request, name, question, endpoint)
            return await (self._heavily(work) if isinstance(question, Slow) else run_in_threadpool(work))

        own = list(inspect.signature(answer).parameters.values())[:2]
        asked = inspect.signature(endpoint.ask).parameters.values()
        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *asked)]
        answer.__name__, answer.__doc__ = endpoint.ask.__name__, endpoint.ask.__doc__
        answer.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return answer

    async def _heavily(self, work: Callable[[], Response]) -> Response:
        """Answer in one of the threads for slow questions."""
        try:
            return await self._heavy.run(work)
        except TooManyError as error:
            return response_to_error(error)

    def _answer(self, request: Request, name: str, question: Question[Any], endpoint: Endpoint) -> Response:
        """Return the response to a question about a store.

        If the store is finished, a browser may cache the answer of some endpoints until the store's version changes.
        """
        try:
            version = self._library.version(name)
            if endpoint.is_cached and is_known(request, version):
                return Response(status_code=304, headers=kept_by_version(version))
            value, opened = self._library.answer(name, lambda opened: (question(opened), opened))
            content = _content(value)
        except Exception as error:
            return response_to_error(error)
        if not endpoint.is_cached:
            return _response(content)
        response = _response(content, endpoint.media_type, opened.version if opened.manifest.complete else None)
        return compressed(request, response)


def _content(value: Any) -> bytes:
    """Return an answer as bytes; records and lists of records as JSON."""
    return value if isinstance(value, bytes) else json_text(value).encode()


def _response(content: bytes, media_type: str = JSON, version: str | None = None) -> Response:
    """Return a response; a browser may cache it until the store's version changes, or never if there is no version."""
    headers = {"cache-control": "no-store"} if version is None else kept_by_version(version)
    return Response(content, headers=headers, media_type=media_type)
