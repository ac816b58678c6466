"""The server: it listens on a port, opens a browser on request, and shuts down cleanly on Ctrl-C.

Connections have time limits, their number is limited, and errors of the HTTP parser are JSON. uvicorn only limits the
time between two requests. Without further limits, clients that connect and send nothing, send a request byte by byte,
or never read their answer could occupy all connections and lock out everyone else. Clients that send a body in tiny
chunks, or many requests at once, could keep the event loop and the threads so busy that everyone else waits.
"""

import asyncio
import errno
import re
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from types import FrameType
from typing import Any

import h11
import uvicorn
from anyio import to_thread
from uvicorn.protocols.http.h11_impl import H11Protocol

from antipodes.service.answers import error_body
from antipodes.service.guard import Application, error_headers
from antipodes_tasks.base.errors import AntipodesError, InputError
from antipodes_tasks.base.quoting import quote, shorten

MAX_CONNECTIONS = 1024
"""Maximum number of connections; a new one replaces the connection that has waited longest for a request."""
REQUEST_SECONDS = 10
"""Seconds within which the first request of a connection, and the headers of each request, must arrive."""
READING_SECONDS = 30
"""Seconds within which a client must read some of its answer."""
MAX_SMALL_CHUNKS, CHUNK_BYTES = 32, 4096
"""Maximum number of chunks in a body, in addition to one chunk for each CHUNK_BYTES bytes."""
PIPELINED_AT_A_TIME = 1
"""Maximum number of pipelined requests that are answered at a time, on all connections together."""
PYTHON_VALUE = re.compile(r":? ?(bytearray\()?b['\"].*", re.DOTALL)
"""The part of the parser's messages that shows bytes of the request."""


class Parser(h11.Connection):
    """The HTTP parser of one connection. It refuses bodies in tiny chunks, since each chunk takes as long as a KiB."""

    def __init__(self, max_event_bytes: int) -> None:
        super().__init__(h11.SERVER, max_event_bytes)
        self._chunks = self._bytes = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event; raise RemoteProtocolError if a body has too many chunks."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._chunks += event.chunk_start
            self._bytes += len(event.data)
            if self._chunks > MAX_SMALL_CHUNKS + self._bytes // CHUNK_BYTES:
                raise h11.RemoteProtocolError(f"the chunks are too small; send {CHUNK_BYTES:,} bytes or more in each")
        return event


class Connection(H11Protocol):
    """The protocol of one connection."""

    def __init__(self, *args: Any, pipelined: asyncio.Semaphore, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = Parser(MAX_EVENT_BYTES)
        self.app = self._answer
        self._pipelined = pipelined
        self._is_queued = False
        self._request_timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None
        self.waiting_since = self.loop.time()
        """Time at which the connection began to wait for a request, by the clock of the event loop."""

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being answered."""
        begun: bool = self.cycle is not None  # its type in uvicorn does not include None
        return self._is_queued or not begun or self.cycle.response_complete

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request. If the next request has already arrived, others' requests are answered first.

        Browsers wait for each answer. Clients that send many requests at once would otherwise delay them.
        """
        is_pipelined = self.conn.their_state is h11.DONE and self.conn.trailing_data[0]
        if not is_pipelined:  # more data may also be the beginning of the next chunk of the body
            await self.config.loaded_app(scope, receive, send)
            return
        self._is_queued = True
        async with self._pipelined:
            self._is_queued = False
            if not self.cycle.disconnected:
                await self.config.loaded_app(scope, receive, send)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request; if there are too many connections, close one."""
        super().connection_made(transport)
        self._start_request_timer()
        if len(self.connections) > MAX_CONNECTIONS:
            waiting = [one for one in self.connections if isinstance(one, Connection) and one.is_waiting]
            min(waiting, key=lambda one: one.waiting_since).abort()

    def abort(self) -> None:
        """Close the connection at once; data that the client has not read yet is lost."""
        self.connections.discard(self)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        super().connection_lost(exc)
        self._stop_request_timer()
        self._stop_reading_timer()

    def data_received(self, data: bytes) -> None:
        """Receive data of a request; the timer for its headers starts with the first byte."""
        super().data_received(data)
        if not self.is_waiting or self.transport.is_closing():
            self._stop_request_timer()
        elif self._request_timer is None:
            self._start_request_timer()

    def on_response_complete(self) -> None:
        """Start to wait for the next request."""
        self.waiting_since = self.loop.time()
        super().on_response_complete()

    def _start_request_timer(self) -> None:
        self._request_timer = self.loop.call_later(REQUEST_SECONDS, self._end_waiting)

    def _stop_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _end_waiting(self) -> None:
        """Close a connection whose request has not arrived; send the reason if the client has begun a request."""
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, f"the headers did not arrive within {REQUEST_SECONDS} seconds")
        else:
            self.abort()

    def pause_writing(self) -> None:
        """Start the timer for reading, because the client reads more slowly than the answer is written."""
        super().pause_writing()
        self._start_reading_timer()

    def resume_writing(self) -> None:
        """Stop the timer for reading."""
        super().resume_writing()
        self._stop_reading_timer()

    def _start_reading_timer(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._reading_timer = self.loop.call_later(READING_SECONDS, self._check_reading, unread)

    def _stop_reading_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _check_reading(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self._start_reading_timer()
        else:
            self.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse an invalid request; uvicorn calls this method while it handles the parser's error."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else HTTPStatus.BAD_REQUEST
        what = PYTHON_VALUE.sub("", str(error or msg))
        self._refuse(status, f"not a valid HTTP request: {shorten(what)}")

    def _refuse(self, status: int, message: str) -> None:
        """Send an error and close the connection; only close it if an answer has already been started."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.abort()
            return
        if self.cycle is not None:
            self.cycle.disconnected = True  # otherwise its answer would follow this error
            self.cycle.message_event.set()
        body = error_body(message)
        response = h11.Response(
            status_code=status,
            headers=[*error_headers(status, body), (b"connection", b"close")],
            reason=HTTPStatus(status).phrase.encode(),
        )
        events = response, h11.Data(data=body), h11.EndOfMessage()
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()


MAX_EVENT_BYTES = 1 << 16
"""Maximum number of bytes of the headers of a request, or of the header of a chunk."""
SECONDS_IDLE = 30
"""Seconds after which an idle connection is closed; users look at a position before they make the next move."""
SECONDS_TO_END = 2
"""Seconds in which requests under way may finish when the server shuts down."""
THREADS = 4
"""Number of threads that compute answers. Python runs one at a time, so more threads would only delay each other."""
BACKLOG = 128
"""Maximum number of connections that wait to be accepted."""


class PortError(AntipodesError, OSError):
    """The server cannot listen on a port."""


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a host and port; port 0 chooses any free port.

    Raises InputError if the host is not an address of this machine, and PortError if the port is in use or not allowed.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host,
            port,
            type=socket.SOCK_STREAM,
            proto=socket.IPPROTO_TCP,
            flags=socket.AI_PASSIVE | socket.AI_ADDRCONFIG,
        )[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"--host: expected a name or an address of this machine, found {quote(host)}") from error
    listening = socket.socket(family, kind, protocol)  # asyncio disables TCP delays only if it is given the protocol
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise _refused(error, host, port) from error
    return listening


def _refused(error: OSError, host: str, port: int) -> AntipodesError:
    if error.errno == errno.EADDRNOTAVAIL:
        return InputError(f"--host: expected an address of this machine, found {quote(host)}")
    if error.errno == errno.EADDRINUSE:
        return PortError(f"port {port} is in use; choose another --port, or 0 for any free port")
    return PortError(f"cannot serve on port {port}: {error.strerror or error}")


def url_of(listening: socket.socket, host: str) -> str:
    """Return the URL at which a browser on this machine reaches the service."""
    port = listening.getsockname()[1]
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class Server(uvicorn.Server):
    """A server that shuts down cleanly at the first signal and exits immediately at the second."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle SIGINT or SIGTERM."""
        if self.should_exit:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        self.should_exit = True


def serve(application: Application, listening: socket.socket, began: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; ``began`` is called as soon as requests can be answered.

    Requests under way then have SECONDS_TO_END seconds to finish. Threads that are still computing are not awaited.
    """
    server = make_server(application)
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        began()
        asyncio.run(run_server(server, listening))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def make_server(application: Application) -> Server:
    """Return a server of an application that has not been started yet."""
    config = uvicorn.Config(
        application,  # type: ignore[arg-type, unused-ignore]
        http=partial(Connection, pipelined=asyncio.Semaphore(PIPELINED_AT_A_TIME)),  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=SECONDS_IDLE,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    return Server(config)


async def run_server(server: uvicorn.Server, listening: socket.socket) -> None:
    """Accept connections until the server is told to exit."""
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    await server.serve(sockets=[listening])


def open_browser(url: str) -> None:
    """Open a page in the user's browser without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
