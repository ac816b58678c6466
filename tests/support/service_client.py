"""A client that sends raw requests to the service in this process and checks every response."""

import asyncio
import dataclasses
import json
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote, unquote_to_bytes, urlencode

from antipodes.service.encoded_answers import Encoded, described
from antipodes.service.guard import HEADERS, Application

KNOWN_STATUSES = {200, 304, 400, 404, 405, 408, 413, 429, 503}
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        assert set(self.json) == {"error"}
        return str(self.json["error"])


class Client:
    """A client of a service; it checks the properties that all responses must have."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def get(self, path: str, parameters: Mapping[str, object] | Pairs | None = None, **headers: str) -> Answer:
        """Return the answer to a GET request for a path under /api/v1."""
        query = "?" + urlencode(parameters or {}, doseq=True, errors="surrogatepass") if parameters else ""
        return self.ask("GET", f"/api/v1{quote(path)}{query}", headers=headers)

    def value(self, path: str, parameters: Mapping[str, object] | Pairs | None = None) -> Any:
        """Return the JSON value at a path; the request must succeed."""
        answer = self.get(path, parameters)
        assert answer.status == 200, answer
        return answer.json

    def refused(self, path: str, parameters: Mapping[str, object] | Pairs | None = None, status: int = 400) -> str:
        """Return the error message at a path; the request must fail with a status."""
        answer = self.get(path, parameters)
        assert answer.status == status, answer
        return answer.error

    def post(self, path: str, body: bytes | object) -> Answer:
        """Return the answer to a POST request, whose body is bytes or a value to encode as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", f"/api/v1{path}", content, {"content-type": "application/json"})

    def ask(self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """Return the answer to a request; the target and the headers are sent unchanged."""
        sent = {"host": "localhost:8642", **(headers or {})}
        answer = asyncio.run(exchange(self.application, method, target, sent, [body]))
        check(answer, method)
        return answer


async def exchange(
    application: Application, method: str, target: str, headers: Mapping[str, str], parts: list[bytes]
) -> Answer:
    """Send a request to an ASGI application and return the response.

    The body is sent in parts; without parts, it never arrives.
    """
    path, _, query = target.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path.encode("latin-1", "replace"),
        "query_string": query.encode("latin-1", "replace"),
        "headers": [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8642),
    }
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    if waiting:
        waiting[-1]["more_body"] = False
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        if not parts:
            await asyncio.Event().wait()
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await application(scope, receive, send)
    begin, *bodies = sent
    found = {name.decode(): value.decode() for name, value in begin["headers"]}
    return Answer(begin["status"], found, b"".join(one.get("body", b"") for one in bodies))


def check(answer: Answer, method: str) -> None:
    """Check a response for a known status, the headers of the guard, and a one-line message if it is an error."""
    assert answer.status in KNOWN_STATUSES, answer
    assert HEADERS.items() <= answer.headers.items()
    assert not any(name.startswith("access-control") for name in answer.headers)
    if answer.status >= 400 and method != "HEAD":
        assert answer.headers["content-type"] == "application/json"
        assert answer.error
        assert len(answer.error) < 700, "longer than anyone reads"
        assert "\n" not in answer.error
        assert "Traceback" not in answer.error


def fits(value: Any, kind: Any) -> bool:
    """Return whether a JSON value has the type that the description of the API states, without unknown keys."""
    if kind is Any:
        return True
    if dataclasses.is_dataclass(kind):
        hints, required = get_type_hints(kind), {one.name for one in dataclasses.fields(kind) if _has_no_default(one)}
        known = isinstance(value, dict) and required <= value.keys() <= hints.keys()
        return known and all(fits(one, hints[name]) for name, one in value.items())
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Encoded:
        return fits(value, described(*arguments))
    if origin in (UnionType, Union):
        return any(fits(value, one) for one in arguments)
    if origin in (list, Sequence) or (origin is tuple and arguments[-1] is ...):
        return isinstance(value, list) and all(fits(one, arguments[0]) for one in value)
    if origin is tuple:
        return isinstance(value, list) and len(value) == len(arguments) and all(map(fits, value, arguments))
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(fits(one, arguments[1]) for one in value.values())
    if kind is float:
        return isinstance(value, int | float)
    return value is None if kind is NoneType else type(value) is kind


def _has_no_default(one: Any) -> bool:
    return one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
