"""Requests to the service in this process, byte by byte as a client sends them, and checks of all that it answers."""

import asyncio
import dataclasses
import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints
from urllib.parse import quote, unquote_to_bytes, urlencode

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
    """Asks a service; each response is checked for what all have in common."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def get(self, path: str, parameters: Mapping[str, object] | Pairs | None = None, **headers: str) -> Answer:
        """The answer to a path under /api/v1, which is text, and its parameters."""
        query = "?" + urlencode(parameters or {}, doseq=True, errors="surrogatepass") if parameters else ""
        return self.ask("GET", f"/api/v1{quote(path)}{query}", headers=headers)

    def value(self, path: str, parameters: Mapping[str, object] | Pairs | None = None) -> Any:
        """The value at a path, which must be there."""
        answer = self.get(path, parameters)
        assert answer.status == 200, answer
        return answer.json

    def refused(self, path: str, parameters: Mapping[str, object] | Pairs | None = None, status: int = 400) -> str:
        """The error at a path."""
        answer = self.get(path, parameters)
        assert answer.status == status, answer
        return answer.error

    def post(self, path: str, body: bytes | object) -> Answer:
        """The answer to a body, bytes or a value as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", f"/api/v1{path}", content, {"content-type": "application/json"})

    def ask(self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """The answer to a request; the target and the headers are sent as they are."""
        sent = {"host": "localhost:8642", **(headers or {})}
        answer = asyncio.run(exchange(self.application, method, target, sent, [body]))
        check(answer, method)
        return answer


async def exchange(
    application: Application, method: str, target: str, headers: Mapping[str, str], parts: list[bytes]
) -> Answer:
    """Send a request, its body in parts, to an ASGI application; the response. Without parts the body never arrives."""
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
    """Check what every response has: a known status, the headers of the guard, one line of error."""
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
    """Whether a value of JSON has the type that the description of the API gives it; no key may be unknown."""
    if kind is Any:
        return True
    if dataclasses.is_dataclass(kind):
        hints, required = get_type_hints(kind), {one.name for one in dataclasses.fields(kind) if _has_no_default(one)}
        known = isinstance(value, dict) and required <= value.keys() <= hints.keys()
        return known and all(fits(one, hints[name]) for name, one in value.items())
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return any(fits(value, one) for one in arguments)
    if origin is list:
        return isinstance(value, list) and all(fits(one, arguments[0]) for one in value)
    if origin is tuple:
        return isinstance(value, list) and len(value) == len(arguments) and all(map(fits, value, arguments))
    if origin is dict:
        return isinstance(value, dict) and all(fits(one, arguments[1]) for one in value.values())
    if kind is float:
        return isinstance(value, int | float)
    return value is None if kind is NoneType else type(value) is kind


def _has_no_default(one: Any) -> bool:
    return one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
