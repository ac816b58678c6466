"""Connections to the service: silent, slow and rude clients, and how the program ends while a storage is silent."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forks import FOLDER, popen
from service_client import Client
from waiting import PATIENCE

from antipodes.service import guard
from antipodes.service import server as serving
from antipodes.service.guard import Guard, Hosts, Receive, Scope, Send
from antipodes.service.library import Library, Served
from antipodes.service.server import listening_socket, make_server, run_server
from antipodes.storage.backend import Storage
from antipodes.storage.opening import storage_at
from antipodes.stores import open_store
from antipodes_tasks.base.errors import StoreError

GOOD = b"GET /api/v1/stores/fields/layers HTTP/1.1\r\nHost: localhost\r\n\r\n"
Connect = Callable[[], socket.socket]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[guard.Application], Connect]]:
    """Serves an application in a thread, patiently; what it returns connects to it."""
    for name in ("REQUEST_SECONDS", "READING_SECONDS", "SECONDS_IDLE"):
        monkeypatch.setattr(serving, name, PATIENCE)
    for name in ("SECONDS_FOR_BODY", "ANSWER_SECONDS"):
        monkeypatch.setattr(guard, name, PATIENCE)
    ends: list[Callable[[], None]] = []

    def serve_it(application: guard.Application) -> Connect:
        listening, server = listening_socket("127.0.0.1", 0), make_server(application)
        port = listening.getsockname()[1]
        thread = threading.Thread(target=lambda: asyncio.run(run_server(server, listening)), daemon=True)
        thread.start()

        def end() -> None:
            server.should_exit = True
            thread.join(PATIENCE)

        ends.append(end)
        return lambda: socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)

    yield serve_it
    for end in ends:
        end()


@pytest.fixture
def connect(serve: Callable[[guard.Application], Connect], client: Client) -> Connect:
    return serve(client.application)


class Slow:
    """An application that answers when it is let go, and tells when it was asked."""

    def __init__(self) -> None:
        self.inside = threading.Event()
        self.let_go = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.inside.set()
        await asyncio.to_thread(self.let_go.wait, PATIENCE)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"{}"})


def received(client: socket.socket) -> bytes:
    """All that arrives until the service closes the connection."""
    parts = []
    while True:
        try:
            part = client.recv(1 << 16)
        except ConnectionResetError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


class NotAnsweredError(AssertionError):
    """A request was not answered."""


def answer(client: socket.socket) -> tuple[int, dict[str, str], Any]:
    """Status, headers and JSON of the next response."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += (byte := client.recv(1))
        if not byte:
            raise NotAnsweredError(f"the service has closed the connection after {text!r}")
    head, _, _ = text.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = b""
    while len(body) < int(headers["content-length"]):
        body += client.recv(int(headers["content-length"]) - len(body))
    return int(status.split()[1]), headers, json.loads(body)


def test_one_connection_serves_several_requests(connect: Connect) -> None:
    with connect() as client:
        for _ in range(3):
            client.sendall(GOOD)
            status, _, value = answer(client)
            assert (status, value["radius"]) == (200, 15)
        client.sendall(GOOD * 2)
        assert [answer(client)[0] for _ in range(2)] == [200, 200]


def test_a_silent_connection_is_closed(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.1)
    with connect() as client:
        assert received(client) == b""


def answer_to_endless_headers(connect: Connect, before: bytes) -> tuple[int, dict[str, str], Any] | None:
    """The answer to headers whose client sends more all the time; None if the connection was closed without one."""
    stopped = threading.Event()

    def trickle(client: socket.socket) -> None:
        while not stopped.wait(0.02):
            try:
                client.sendall(b"X: y\r\n")
            except OSError:
                return

    with connect() as client:
        sender = threading.Thread(target=trickle, args=(client,))
        try:
            client.sendall(before + b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            if before:
                answer(client)
            sender.start()
            found = answer(client)
        except (ConnectionError, NotAnsweredError):
            return None
        finally:
            stopped.set()
            if sender.ident:
                sender.join()
        received(client)
        return found


@pytest.mark.parametrize("before", [b"", GOOD])
def test_headers_that_never_end_are_cut(connect: Connect, monkeypatch: pytest.MonkeyPatch, before: bytes) -> None:
    """Also those of a second request, although the client sends more all the time."""
    for seconds in (0.3, 3.0, 30.0):
        monkeypatch.setattr(serving, "REQUEST_SECONDS", seconds)
        if found := answer_to_endless_headers(connect, before):  # else this process stood still before it sent any
            break
    assert found
    status, headers, value = found
    assert (status, headers["connection"]) == (408, "close")
    assert value == {"error": f"the headers did not arrive within {seconds} seconds"}


def test_silent_connections_make_room_for_others(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 20)
    silent = [connect() for _ in range(50)]
    with connect() as client:
        client.sendall(GOOD)
        assert answer(client)[0] == 200
    assert received(silent[0]) == b""
    silent[-1].sendall(GOOD)
    assert answer(silent[-1])[0] == 200
    for one in silent:
        one.close()


def test_connections_that_are_being_answered_are_not_closed_for_others(
    serve: Callable[[guard.Application], Connect], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 1)
    slow = Slow()
    connect = serve(Guard(slow, Hosts.of("127.0.0.1")))
    with connect() as client:
        client.sendall(GOOD)
        assert slow.inside.wait(PATIENCE)
        with connect() as other:
            assert received(other) == b""
        slow.let_go.set()
        assert answer(client)[0] == 200


def test_a_client_that_reads_nothing_is_dropped(
    serve: Callable[[guard.Application], Connect], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "READING_SECONDS", 0.1)
    ended = threading.Event()
    body = b"x" * (1 << 26)

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        ended.set()

    connect = serve(Guard(large, Hosts.of("127.0.0.1")))
    with connect() as client:
        client.sendall(GOOD)
        assert ended.wait(PATIENCE)
        assert len(received(client)) < len(body)


@pytest.mark.parametrize(("request_", "status", "error"), [
    (b"\x16\x03\x01\x02\x00\r\n\r\n", 400, "not a valid HTTP request: "),
    (b"GET / HTTP/1.1\r\n\r\n", 400, "not a valid HTTP request: Missing mandatory Host: header"),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400, "not a valid HTTP request: "),
    (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: x\r\n\r\n", 501, "not a valid HTTP request: "),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (1 << 17), 431, "not a valid HTTP request: "),
    (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        400,
        "not a valid HTTP request: ",
    ),
    (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
        "the request has both headers Content-Length and Transfer-Encoding; send only one of them",
    ),
])  # fmt: skip
def test_what_is_not_a_request_gets_one_line_of_json(
    connect: Connect, request_: bytes, status: int, error: str
) -> None:
    with connect() as client:
        client.sendall(request_)
        found, headers, value = answer(client)
        assert (found, headers["content-type"], headers["connection"]) == (status, "application/json", "close")
        assert {name: headers[name] for name in guard.HEADERS} == guard.HEADERS
        assert value["error"].startswith(error)
        assert "b'" not in value["error"]
        assert received(client) == b""


def test_a_refused_body_closes_the_connection(connect: Connect) -> None:
    with connect() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n")
        status, headers, _ = answer(client)
        assert (status, headers["connection"]) == (413, "close")


@pytest.mark.parametrize(("size", "count", "is_accepted"), [
    (1, 32, True), (1, 33, False), (8192, 128, True),
])  # fmt: skip
def test_bodies_in_tiny_chunks_are_refused_before_they_end(
    connect: Connect, size: int, count: int, is_accepted: bool
) -> None:
    with connect() as client:
        client.sendall(b"POST /api/v1/stores/fields/distances HTTP/1.1\r\nHost: localhost\r\n")
        client.sendall(
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + (b"%x\r\n%s\r\n" % (size, b"x" * size)) * count
        )
        if is_accepted:
            client.sendall(b"0\r\n\r\n")
        status, headers, value = answer(client)
        assert status == 400
        if is_accepted:
            assert value["error"] == "body: not valid JSON"
            return
        assert headers["connection"] == "close"
        assert value["error"].endswith("the chunks are too small; send 4,096 bytes or more in each")
        assert received(client) == b""


def test_pipelined_requests_wait_until_others_are_answered(serve: Callable[[guard.Application], Connect]) -> None:
    """The requests of the second connection wait for those of the first, but a client with one request does not."""
    first_alone, quick, asked = Slow(), Slow(), []
    quick.let_go.set()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope["query_string"])
        await (quick if first_alone.inside.is_set() else first_alone)(scope, receive, send)

    def requests(name: bytes, count: int) -> bytes:
        return (b"GET /?%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % name) * count

    connect = serve(Guard(application, Hosts.of("127.0.0.1")))
    with connect() as first, connect() as second, connect() as third:
        first.sendall(requests(b"first", 3))
        assert first_alone.inside.wait(PATIENCE)
        second.sendall(requests(b"second", 3))
        third.sendall(requests(b"third", 1))
        assert answer(third)[0] == 200
        assert asked == [b"first", b"third"]
        first_alone.let_go.set()
        assert [answer(client)[0] for client in (first, second) for _ in range(3)] == [200] * 6
    assert sorted(asked) == [b"first"] * 3 + [b"second"] * 3 + [b"third"]


def test_the_beginning_of_the_next_chunk_is_not_a_pipelined_request(
    serve: Callable[[guard.Application], Connect],
) -> None:
    slow, reading = Slow(), Slow()
    reading.let_go.set()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            reading.inside.set()
            while (await receive())["more_body"]:
                pass
        await (reading if scope["method"] == "POST" else slow)(scope, receive, send)

    connect = serve(application)
    with connect() as pipelining, connect() as client:
        pipelining.sendall(GOOD * 2)
        assert slow.inside.wait(PATIENCE)
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n1")
        assert reading.inside.wait(PATIENCE)
        client.sendall(b"\r\ny\r\n0\r\n\r\n")
        assert answer(client)[0] == 200
        slow.let_go.set()
        assert [answer(pipelining)[0] for _ in range(2)] == [200] * 2


def test_connections_whose_requests_are_queued_make_room_for_others(
    serve: Callable[[guard.Application], Connect], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 2)
    slow = Slow()
    connect = serve(Guard(slow, Hosts.of("127.0.0.1")))
    with connect() as first, connect() as queued:
        first.sendall(GOOD * 2)
        assert slow.inside.wait(PATIENCE)
        queued.sendall(GOOD * 2)
        with connect() as other:
            assert received(queued) == b""
            other.sendall(GOOD)
            slow.let_go.set()
            assert [answer(client)[0] for client in (other, first, first)] == [200] * 3


def test_an_answer_that_takes_too_long(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "ANSWER_SECONDS", 0.1)
    let_go = threading.Event()
    monkeypatch.setattr("antipodes.service.overview.layers_view", lambda opened: let_go.wait(PATIENCE))
    assert client.refused("/stores/fields/layers", status=503) == "no answer within 0.1 seconds; try again later"
    let_go.set()


def test_a_request_does_not_wait_for_ever_while_another_opens_the_store(
    stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antipodes.service.library.OPENING_SECONDS", 0.1)
    library = Library([Served(storage_at(stores / "fields.zarr"))], 1 << 20)
    assert not library.is_busy
    inside, let_go = threading.Event(), threading.Event()

    def open_slowly(storage: Storage) -> Any:
        inside.set()
        let_go.wait(PATIENCE)
        return open_store(storage)

    monkeypatch.setattr("antipodes.service.library.open_store", open_slowly)
    opening = threading.Thread(target=library.answer, args=("fields", id))
    opening.start()
    assert inside.wait(PATIENCE)
    with pytest.raises(StoreError, match="the storage is not responding; try again later"):
        library.answer("fields", id)
    assert library.is_busy
    let_go.set()
    opening.join()
    assert not library.is_busy


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
def test_the_program_ends_while_answers_are_stuck(stores: Path, numbers: list[signal.Signals]) -> None:
    """Even if all threads that compute answers are."""
    command = [sys.executable, str(FOLDER / "blocked_service.py"), str(stores / "fields.zarr")]
    with popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            port = int(served.stdout.readline().rpartition(":")[2].partition("/")[0])
            clients = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) for _ in range(8)]
            for client in clients:
                client.sendall(GOOD)
            assert served.stdout.readline() == "blocked\n"
            for number in numbers:
                served.send_signal(number)
            _, err = served.communicate(timeout=PATIENCE)
            assert err == ""
            assert served.returncode in (0, -numbers[-1])
        finally:
            served.kill()
    for client in clients:
        client.close()
