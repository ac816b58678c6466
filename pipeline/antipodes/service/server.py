"""The server: a port, a browser if one is asked for, and an orderly end on Ctrl-C."""

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
from antipodes_tasks.errors import AntipodesError, InputError
from antipodes_tasks.quoting import quote

SECONDS_IDLE = 30
"""Seconds after which a connection without requests is closed: a person looks at a position before the next move."""
SECONDS_TO_END = 2
"""Seconds that requests under way have when the server ends."""
THREADS = 4
"""Threads that compute answers. Python runs one at a time: more than wait for a disk only delay each other."""
BACKLOG = 128
"""Connections that wait to be accepted."""


class PortError(AntipodesError, OSError):
    """A port that cannot be served."""


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens at a host and a port; port 0: any free one.

    InputError where the host is none of this machine; PortError where the port is in use, or not allowed.
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
    listening = socket.socket(family, kind, protocol)  # asyncio sends without delay where it knows that this is TCP
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
        return PortError(f"port {port} is in use: choose another --port, or 0 for any that is free")
    return PortError(f"cannot serve port {port}: {error.strerror or error}")


def url_of(listening: socket.socket, host: str) -> str:
    """The address at which a browser on this machine finds what is served at a host."""
    port = listening.getsockname()[1]
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class Server(uvicorn.Server):
    """A server that a first signal asks to end, and that a second one ends at once."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        if self.should_exit:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        self.should_exit = True


def serve(application: Application, listening: socket.socket, began: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; ``began`` is called once requests are answered.

    Requests under way have SECONDS_TO_END seconds then. Threads that are still computing afterwards are not awaited.
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
    """Show a page in the person's browser, without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
