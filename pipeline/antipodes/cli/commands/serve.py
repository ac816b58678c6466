"""``antipodes serve``: the explorer in a browser."""

import os
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from antipodes.cli.command import command, commands
from antipodes.cli.loading import importing_libraries
from antipodes.cli.shared_options import PuzzleOfStore
from antipodes.cli.streams import print_line, print_message
from antipodes.service.library import Library, stores_named
from antipodes.system.machine import MIB, available_memory
from antipodes.system.options import OUTPUTS, memory_size
from antipodes_tasks.base.errors import InputError, NotAStoreError, missing_package
from antipodes_tasks.base.quoting import counted

LOOPBACK = "127.0.0.1"
PORT = 8642
LEAST_CACHE, SHARE = 256 * MIB, 4
"""Minimum default size of the chunk cache, and the number by which the free memory is divided to get the default."""

app = commands()


@command(
    app,
    "serve",
    "antipodes serve --open",
    "antipodes serve eight-puzzle 6x10",
    "antipodes serve /data/tables --port 0",
)
def serve(
    stores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STORE",
            help=f"Stores, or directories that contain stores; paths or URLs. [default: {OUTPUTS}/]",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(metavar="HOST", help="Address to listen on; other machines can connect unless it is loopback."),
    ] = LOOPBACK,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="Port; 0: any free port.")] = PORT,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory for the cache of table chunks. [default: a quarter of the free memory]",
        ),
    ] = None,
    puzzle: PuzzleOfStore = None,
) -> None:
    """Show tables and tilings in a browser, until Ctrl-C."""
    for package in ("fastapi", "uvicorn"):
        if find_spec(package) is None:
            raise missing_package("serve", package, "web")
    with importing_libraries():
        from antipodes.service import app as service
        from antipodes.service import guard, server

    if not host:
        raise InputError("--host is empty; give a name or an address")
    library = Library(stores_named(stores or [], puzzle), _cache_bytes(memory_limit))
    if not library.storages:
        raise NotAStoreError(
            f"no stores in {' '.join(stores or [f'{OUTPUTS}/'])}; create one with: antipodes run PUZZLE"
        )
    with server.listening_socket(host, port) as listening:
        url = server.url_of(listening, host)
        if not guard.is_loopback(host):
            print_message(
                f"--host {host}: everyone who can reach this machine can read these stores; nothing is encrypted"
            )

        def began() -> None:
            print_line(f"{counted(len(library.storages), 'store')} at {url} until Ctrl-C", flush=True)
            if show:
                server.open_browser(url)

        server.serve(service.application(library, guard.Hosts.of(host)), listening, began)
    if library.is_busy:  # Python would wait for the library's threads, and the storage may never answer
        sys.stdout.flush()
        os._exit(0)


def _cache_bytes(memory_limit: str | None) -> int:
    if memory_limit is not None:
        return memory_size(memory_limit, "--memory-limit")
    return max(LEAST_CACHE, available_memory() // SHARE)
