"""``antipodes serve`` as a person starts and ends it."""

import json
import os
import re
import signal
import socket
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

import pytest
from programs import Process
from waiting import PATIENCE

from antipodes.service.server import listening_socket, url_of
from antipodes_tasks.base.errors import InputError

Refused = Callable[..., str]


def test_the_program_serves_until_it_is_told_to_end(process: Process, stores: Path) -> None:
    served = process("serve", stores / "fields.zarr", "--port", 0)
    line = served.stdout.readline()
    found = re.fullmatch(r"1 store at http://127\.0\.0\.1:(\d+)/ until Ctrl-C\n", line)
    assert found, line
    connection = HTTPConnection("127.0.0.1", int(found[1]), timeout=PATIENCE)
    connection.request("GET", "/api/v1/stores/fields/view")
    response = connection.getresponse()
    assert json.loads(response.read())["distance"] == 0
    assert (response.status, response.getheader("x-content-type-options")) == (200, "nosniff")
    assert response.getheader("server") is None
    connection.request("GET", "/")
    assert connection.getresponse().read().startswith(b"<!doctype html>")
    os.kill(served.pid, signal.SIGINT)
    out, err = served.communicate(timeout=PATIENCE)
    assert (served.returncode, out, err) == (0, "", "")


def test_a_port_in_use(refused: Refused, stores: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = refused("serve", stores, "--port", port, status=1)
    assert error == f"antipodes: port {port} is in use; choose another --port, or 0 for any free port\n"


def test_no_stores(refused: Refused, tmp_path: Path) -> None:
    assert refused("serve") == "antipodes: no stores in outputs/; create one with: antipodes run PUZZLE\n"
    (tmp_path / "empty").mkdir()
    assert "no stores in empty" in refused("serve", "empty")
    assert "nowhere.zarr does not exist" in refused("serve", "nowhere.zarr")
    assert "there is no store 'eigth-puzzle', neither at this path nor in outputs/" in refused("serve", "eigth-puzzle")


def test_hosts_that_are_not_of_this_machine(refused: Refused, stores: Path) -> None:
    for host, problem in (
        ("192.0.2.1", "--host: expected an address of this machine, found '192.0.2.1'"),
        ("no such host", "--host: expected a name or an address of this machine, found 'no such host'"),
        ("", "--host is empty; give a name or an address"),
    ):
        assert refused("serve", stores, "--port", 0, "--host", host) == f"antipodes: {problem}\n"


def test_a_library_that_is_missing(refused: Refused, stores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.cli.commands.serve.find_spec", lambda name: None)
    assert "serve needs fastapi: pip install '.[web]'" in refused("serve", stores)


def test_another_host_is_announced(cli: Callable[..., object], stores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("antipodes.service.server.serve", lambda application, listening, began: began())
    monkeypatch.setattr("antipodes.service.server.open_browser", opened.append)
    outcome = cli("serve", stores / "fields.zarr", "--port", 0, "--host", "0.0.0.0", "--open", "--memory-limit", "1MiB")
    assert outcome.err == (
        "antipodes: --host 0.0.0.0: everyone who can reach this machine can read these stores; nothing is encrypted\n"
    )
    (url,) = opened
    assert outcome.out == f"1 store at {url} until Ctrl-C\n"
    assert url.startswith("http://localhost:")


def test_addresses_of_sockets() -> None:
    with listening_socket("localhost", 0) as listening:
        assert url_of(listening, "localhost") == f"http://localhost:{listening.getsockname()[1]}/"
        assert url_of(listening, "::1") == f"http://[::1]:{listening.getsockname()[1]}/"
    with pytest.raises(InputError, match="--host: expected a name or an address of this machine"):
        listening_socket("a" * 300, 0)
