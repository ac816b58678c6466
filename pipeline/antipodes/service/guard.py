"""Checks of every request (limits and the name of the host), and headers of every response.

A page of another site can make a browser send requests to this service. It cannot read the answers, because no header
allows it, and requests change nothing. With DNS rebinding the page could pretend to belong to this service. However,
its requests would still name the host of the other site, so they are refused.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from antipodes.service.answers import JSON, error_body, headers_of_error, unexpected
from antipodes_tasks.base.quoting import quote

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 1 << 20
"""Maximum number of bytes of the body of a request."""
SECONDS_FOR_BODY = 10
"""Seconds within which a body must arrive."""
ANSWER_SECONDS = 60
"""Seconds after which a request is refused although its answer is still being computed."""
LONGEST_QUERY = 1 << 14
"""Maximum number of bytes of a request's address after the host; the longest position needs fewer."""
MAX_REQUESTS = 256
"""Maximum number of requests that are being answered or wait for a thread."""
METHODS = ("GET", "HEAD", "POST")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Return whether a service at this host can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Hosts:
    """The host names that requests may contain."""

    names: frozenset[str]
    any_address: bool
    """Whether all IP addresses are allowed, too; in DNS rebinding, the host is always the name of a site."""

    @classmethod
    def of(cls, host: str) -> "Hosts":
        """Return the allowed host names of a service at a host."""
        if is_loopback(host):
            return cls(frozenset({*LOOPBACK_NAMES, host}), any_address=False)
        names = (*LOOPBACK_NAMES, host.lower(), socket.gethostname().lower())
        return cls(frozenset(names), any_address=True)

    def allow(self, header: str) -> bool:
        """Return whether the header ``Host`` of a request is allowed; the port does not matter."""
        host = header.lower()
        name, colon, port = host.rpartition(":")
        if colon and port.isdecimal() and port.isascii():
            host = name
        return host in self.names or (self.any_address and _is_address(host))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class RefusedError(Exception):
    """The request is refused, with a status and a message of one line.

    The connection is closed afterwards if the end of the request's body is unknown.
    """

    def __init__(self, status: int, message: str, *, closes_connection: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.closes_connection = closes_connection


class Guard:
    """An ASGI application that checks requests before it passes them to another application."""

    def __init__(self, application: Application, hosts: Hosts, max_requests: int = MAX_REQUESTS) -> None:
        self._application = application
        self._hosts = hosts
        self._max_requests = max_requests
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":  # the service supports neither WebSockets nor lifespan events
            return
        begun = False

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        try:
            self._check(scope)
            await self._answer(scope, receive, send_with_headers)
        except RefusedError as refusal:
            if not begun:
                await _refuse(refusal, scope["method"], send_with_headers)
        except Exception as error:
            if not begun:
                await _refuse(RefusedError(500, unexpected(error)), scope["method"], send_with_headers)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._running += 1
        try:
            body = await _body_in_time(scope, receive)
            await self._answer_in_time(scope, _replay(body, receive), send)
        finally:
            self._running -= 1

    async def _answer_in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it if this takes too long; the thread that computes the answer continues."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS) as limit:
                await self._application(scope, receive, send)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise RefusedError(503, f"no answer within {ANSWER_SECONDS} seconds; try again later") from error

    def _check(self, scope: Scope) -> None:
        """Raise RefusedError unless the request is valid and can be answered now."""
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._hosts.allow(hosts[0]):
            found = quote(hosts[0]) if len(hosts) == 1 else f"{len(hosts)} such headers"
            raise RefusedError(400, f"Host: expected the host of this service, such as localhost, found {found}")
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            message = "the request has both headers Content-Length and Transfer-Encoding; send only one of them"
            raise RefusedError(400, message, closes_connection=True)
        if scope["method"] not in METHODS:
            raise RefusedError(405, f"expected the method {' or '.join(METHODS)}, found {quote(scope['method'])}")
        length = len(scope.get("raw_path") or scope["path"].encode()) + len(scope["query_string"])
        if length > LONGEST_QUERY:
            raise RefusedError(413, f"expected an address of at most {LONGEST_QUERY:,} bytes, found {length:,}")
        if self._running >= self._max_requests:
            raise RefusedError(429, f"more than {self._max_requests} requests are being answered; try again later")


async def _body_in_time(scope: Scope, receive: Receive) -> bytes:
    try:
        async with asyncio.timeout(SECONDS_FOR_BODY):
            return await _body(scope, receive)
    except TimeoutError as error:
        message = f"the body of the request did not arrive within {SECONDS_FOR_BODY} seconds"
        raise RefusedError(408, message, closes_connection=True) from error


async def _body(scope: Scope, receive: Receive) -> bytes:
    """Return the body of a request; raise RefusedError as soon as it is known to be too long."""
    problem = f"the body of the request is longer than {MAX_BODY:,} bytes"
    too_long = RefusedError(413, problem, closes_connection=True)
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if not declared.isdigit() or len(declared) > 15 or int(declared) > MAX_BODY:
        raise too_long
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > MAX_BODY:
            raise too_long
        if not message.get("more_body"):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a function that first receives a body that was already read, and then the messages after it."""
    given = False

    async def receive_again() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


async def _refuse(refusal: RefusedError, method: str, send: Send) -> None:
    """Send the reason why a request is refused; ``send`` adds the headers that all responses have."""
    body = error_body(str(refusal))
    headers = _own_headers(refusal.status, body)
    if refusal.closes_connection:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


def error_headers(status: int, body: bytes) -> list[tuple[bytes, bytes]]:
    """Return all headers of an error that does not pass through the guard."""
    return [*_own_headers(status, body), *((name.encode(), value.encode()) for name, value in HEADERS.items())]


def _own_headers(status: int, body: bytes) -> list[tuple[bytes, bytes]]:
    """Return the headers of an error without those that all responses have."""
    named = {**headers_of_error(status), "content-type": JSON, "content-length": str(len(body))}
    return [(name.encode(), value.encode()) for name, value in named.items()]
