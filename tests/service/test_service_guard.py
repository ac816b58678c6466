"""What the service refuses: hosts, methods, sizes, numbers of requests, paths; and that nothing is a defect."""

import asyncio
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from service_client import Client, check, exchange
from service_stores import MARKUP, TABLES, TILINGS, client_of
from stores import contents

from antipodes.service import guard
from antipodes.service.guard import Guard, Hosts, Receive, Scope, Send, is_loopback
from antipodes.service.limits import Heavy

LOCAL = Hosts.of("127.0.0.1")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:8642", "127.0.0.1", "[::1]:1", "[::1]"])
def test_hosts_of_this_machine(client: Client, host: str) -> None:
    assert client.ask("GET", "/api/v1/stores/fields/layers", headers={"host": host}).status == 200


@pytest.mark.parametrize(
    "host", ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8642", "192.168.0.1", "localhost:x"]
)
def test_other_hosts_are_refused(client: Client, host: str) -> None:
    answer = client.ask("GET", "/", headers={"host": host})
    assert (answer.status, answer.error[:24]) == (400, "Host: expected the host ")


def test_a_service_for_other_machines_takes_addresses_and_its_names_but_no_others() -> None:
    hosts = Hosts.of("0.0.0.0")
    assert all(map(hosts.allow, ["192.168.0.1:8642", "[fe80::1]:8642", "localhost", "10.0.0.1"]))
    assert not any(map(hosts.allow, ["evil.example", "10.0.0.1.evil.example", ""]))
    assert Hosts.of("my.machine").allow("MY.machine:80")
    assert [*map(is_loopback, ["127.0.0.1", "::1", "127.3.2.1", "localhost", "0.0.0.0", "::", "my.machine"])] == [
        *[True] * 4,
        *[False] * 3,
    ]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST", "HEAD", "BREW"])
def test_other_methods(client: Client, method: str) -> None:
    assert client.ask(method, "/api/v1/stores").status == 405


def test_two_hosts_are_refused() -> None:
    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": [(b"host", b"localhost")] * 2,
    }
    sent = []

    async def send(message: object) -> None:
        sent.append(message)

    async def receive() -> dict[str, object]:
        return {"type": "http.request"}

    asyncio.run(Guard(never, LOCAL)(scope, receive, send))
    assert sent[0]["status"] == 400


@pytest.mark.parametrize("target", [
    "/static/../service/app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/",
    "/static/C:%5Cwindows", "/static/INDEX.html", "/etc/passwd", "//etc/passwd", "/static/index.html%00",
    "/static/\\..\\app.py",
    "/api/v1/stores/..%2f..%2fetc%2fpasswd/layers", "/api/v1/stores/../fields/layers",
    "/api/v1/stores/fields.zarr/layers",
    "/api/v1/stores/%2Ftmp/layers", "/api/v1/stores/./layers", "/api/v1/stores//layers", "/api/v1", "/api/v2/stores",
])  # fmt: skip
def test_no_path_of_a_request_reaches_the_file_system(
    client: Client, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> bytes:
        raise AssertionError("a file was read")

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    monkeypatch.setattr("builtins.open", forbidden)
    assert client.ask("GET", target).status == 404


def test_a_store_that_is_not_served(client: Client) -> None:
    assert client.refused("/stores/nothing/view", status=404) == "there is no store named 'nothing'"
    assert client.refused(f"/stores/{MARKUP}x/view", status=404) == f"there is no store named {MARKUP + 'x'!r}"


def test_a_long_address(client: Client) -> None:
    answer = client.get("/stores/fields/view", {"position": "0 " * 10_000})
    assert (answer.status, "expected an address of at most 16,384 bytes" in answer.error) == (413, True)


def test_a_long_body(client: Client) -> None:
    over = b" " * (guard.MAX_BODY + 1)
    answer = client.post("/stores/fields/distances", over)
    assert (answer.status, answer.error) == (413, "the body of the request is longer than 1,048,576 bytes")
    parts = [over[: 1 << 19], over[1 << 19 :], b"never received"]
    answer = asyncio.run(exchange(client.application, "POST", "/api/v1/stores", {"host": "localhost"}, parts))
    check(answer, "POST")
    assert answer.status == 413
    for length in (str(len(over)), "9" * 5000, "-1", "x"):
        declared = client.ask("POST", "/api/v1/stores/fields/distances", headers={"content-length": length})
        assert declared.status == 413


def test_a_body_that_never_arrives(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SECONDS_FOR_BODY", 0)
    answer = asyncio.run(exchange(client.application, "POST", "/api/v1/stores", {"host": "localhost"}, []))
    check(answer, "POST")
    assert (answer.status, answer.error) == (408, "the body of the request did not arrive within 0 seconds")


def test_many_positions(client: Client) -> None:
    texts = ["0 0 0 0"] * 10_000
    assert len(client.post("/stores/fields/distances", {"positions": texts}).json) == 10_000
    answer = client.post("/stores/fields/distances", {"positions": [*texts, "x"]})
    assert (answer.status, answer.error) == (413, "positions: expected at most 10000, found 10001")


@pytest.mark.parametrize(("body", "expected"), [
    (b"", "positions: this parameter is missing"),
    (b"{", "body: not valid JSON"),
    (b"\xff\xfe", "body: not valid JSON"),
    (b"[" * 100_000, "body: not valid JSON"),
    (b"[]", "positions: this parameter is missing"),
    (b"{}", "positions: this parameter is missing"),
    (b'{"positions": "0 0 0 0"}', "positions: expected a list, found '0 0 0 0'"),
    (b'{"positions": [1]}', "positions.0: expected a string, found 1"),
    (b'{"positions": [null]}', "positions.0: expected a string, found None"),
    (b'{"positions": ["\\ud800"]}', "positions"),
])  # fmt: skip
def test_other_bodies(client: Client, body: bytes, expected: str) -> None:
    answer = client.post("/stores/fields/distances", body)
    assert answer.status == 400
    assert expected in answer.error


@pytest.mark.parametrize(("path", "parameters", "expected"), [
    ("view", {"position": "0 0"}, "position '0 0': expected 4 symbols, found 2"),
    ("view", {"position": "0 0 0 0", "index": 1}, "give a position or an index, not both"),
    ("view", {"index": "x"}, "index: expected a whole number, found 'x'"),
    ("view", {"index": -1}, "index: expected 0 or more, found '-1'"),
    ("view", {"index": 81}, "expected an index from 0 to 80, found 81"),
    ("view", {"index": "9" * 5000}, "index: expected a whole number of fewer digits, found '999"),
    ("view", {"index": 1 << 63}, "index: expected less than 9223372036854775808"),
    ("view", {"moves": "0-9"}, "moves '0-9'"),
    ("positions", {}, "depth: this parameter is missing"),
    ("positions", {"depth": 1, "limit": 0}, "limit: expected 1 or more, found '0'"),
    ("positions", {"depth": 1, "limit": 201}, "limit: expected 200 or less, found '201'"),
    ("positions", {"depth": 1, "first": 10**7}, "first: expected 1000000 or less"),
    ("pattern", {}, "pattern: this parameter is missing"),
    ("graph", {"limit": 10**6}, "limit: expected 100000 or less"),
    ("random", {"seed": -1}, "seed: expected 0 or more"),
    ("random", {"depth": 99}, "expected a depth from 0 to 15, found 99"),
])  # fmt: skip
def test_parameters_that_do_not_fit(client: Client, path: str, parameters: dict[str, object], expected: str) -> None:
    assert expected in client.refused(f"/stores/fields/{path}", parameters)


def test_too_many_requests() -> None:
    """As many as are allowed wait for an event; one more is refused, and after them it is answered."""

    async def ask() -> None:
        let_go, inside = asyncio.Event(), asyncio.Semaphore(0)

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            inside.release()
            await let_go.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})

        guarded, headers = Guard(slow, LOCAL, max_requests=3), {"host": "localhost"}
        under_way = [asyncio.create_task(exchange(guarded, "GET", "/", headers, [b""])) for _ in range(3)]
        for _ in under_way:
            await inside.acquire()
        refused = await exchange(guarded, "GET", "/", headers, [b""])
        check(refused, "GET")
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        assert refused.error == "more than 3 requests are being answered; try again later"
        let_go.set()
        assert [answer.status for answer in await asyncio.gather(*under_way)] == [200] * 3
        assert (await exchange(guarded, "GET", "/", headers, [b""])).status == 200

    asyncio.run(ask())


def test_too_many_heavy_requests(stores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.service.app.Heavy", lambda: Heavy(1))
    client = client_of(stores / "fields.zarr")
    entered, let_go, statuses = threading.Event(), threading.Event(), []

    def wait(*_: object) -> dict[str, object]:
        entered.set()
        let_go.wait()
        return {}

    monkeypatch.setattr("antipodes.service.pattern_matches.pattern_view", wait)
    first = threading.Thread(
        target=lambda: statuses.append(client.get("/stores/fields/pattern", {"pattern": "x"}).status)
    )
    first.start()
    entered.wait()
    second = client.get("/stores/fields/graph")
    assert (second.status, second.headers["retry-after"]) == (429, "1")
    assert client.get("/stores/fields/view", {"moves": "0-1"}).status == 429
    assert client.get("/stores/fields/view").status == 200
    let_go.set()
    first.join()
    assert statuses == [200]
    assert client.get("/stores/fields/graph").status == 200


def test_a_defect_is_one_line(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret\nlines")

    monkeypatch.setattr("antipodes.service.overview.layers_view", broken)
    answer = asyncio.run(
        exchange(client.application, "GET", "/api/v1/stores/fields/layers", {"host": "localhost"}, [b""])
    )
    assert answer.status == 500
    assert answer.error == "internal error (ZeroDivisionError: secret lines). This is a bug; the stores are safe"

    async def broken_application(scope: Scope, receive: Receive, send: Send) -> None:
        broken()

    answer = asyncio.run(exchange(Guard(broken_application, LOCAL), "GET", "/", {"host": "localhost"}, [b""]))
    assert answer.status == 500
    assert answer.error == "internal error (ZeroDivisionError: secret lines). This is a bug; the stores are safe"


PARAMETERS = ("position", "moves", "index", "depth", "limit", "first", "seed", "pattern", "where", "other")
PLACES = (
    *("", "/layers", "/antipodes", "/distance", "/view", "/successors", "/path", "/random", "/positions", "/pattern"),
    *(
        "/draft",
        "/graph",
        "/picture.svg",
        "/picture.png",
        "/board",
        "/tilings",
        "/tilings/1.svg",
        "/tilings/1/images",
        "/distances",
    ),
)
served = st.sampled_from([*TABLES, *TILINGS, "counts", "unfinished", "empty", MARKUP, "nothing"])
likely = st.sampled_from(
    ["0 0 0 0", "0 1 2 0", "1", "0", "3", "A", "U F'", "X covers 3", "?? / ??", "{0 1} ? ?", "(U F)9"]
)
values = st.one_of(
    likely, st.integers(-(2**70), 2**70).map(str), st.text(max_size=40), st.text("0123 ?{}[]/.-AB", max_size=12)
)
queries = st.lists(st.tuples(st.sampled_from(PARAMETERS), values), max_size=4)


@given(
    name=st.one_of(served, st.text(max_size=20)),
    place=st.sampled_from(PLACES),
    query=queries,
    method=st.sampled_from(["GET", "POST"]),
)
@example(name="fields", place="/view", query=[("index", "3"), ("index", "4")], method="GET")
def test_whatever_is_asked_the_answer_is_a_value_or_one_line(
    client: Client, name: str, place: str, query: list[tuple[str, str]], method: str
) -> None:
    encoded = "&".join(f"{key}={quote(value, safe='', errors='surrogatepass')}" for key, value in query)
    target = f"/api/v1/stores/{quote(name, safe='', errors='surrogatepass')}{place}"
    answer = client.ask(method, f"{target}?{encoded}", b"{}" if method == "POST" else b"")
    assert answer.status != 503, answer
    if answer.status == 200 and answer.headers["content-type"] == "application/json":
        assert answer.json is not None


@given(target=st.text(st.characters(min_codepoint=33, max_codepoint=255), max_size=60), body=st.binary(max_size=60))
def test_whatever_bytes_are_sent(client: Client, target: str, body: bytes) -> None:
    client.ask("POST", f"/{target}", body, {"content-type": "application/json"})
    client.ask("GET", f"/api/v1/stores/{target}", body)


def test_nothing_is_written(stores: Path) -> None:
    before = contents(stores)
    client = client_of(stores)
    for place in PLACES:
        for name in ("fields", "square", "counts", "unfinished"):
            client.get(f"/stores/{name}{place}", {"depth": 0, "pattern": "? ? ? ?"})
    assert contents(stores) == before
