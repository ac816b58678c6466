"""The server: it listens on a port, opens a browser on request, and shuts down cleanly on Ctrl-C."""

import asyncio
import errno
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from types import FrameType

import uvicorn
from anyio import to_thread

from antipodes.service.connection import Connection
from antipodes.service.guard import Application
from antipodes_tasks.base.errors import AntipodesError, InputError
from antipodes_tasks.base.quoting import quote

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
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=SECONDS_IDLE,
        timeout_graceful_shutdown=SECONDS_TO_END,
        h11_max_incomplete_event_size=1 << 16,
    )
    return Server(config)


async def run_server(server: uvicorn.Server, listening: socket.socket) -> None:
    """Accept connections until the server is told to exit."""
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    await server.serve(sockets=[listening])


def open_browser(url: str) -> None:
    """Open a page in the user's browser without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
