"""An S3 server in its own process, direct access to its buckets, and a proxy that makes the server fail."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

import obstore
from obstore.store import S3Store
from waiting import PATIENCE

KEY, SECRET = "AKIDANTIPODESTEST", "s3cr3t-of-the-tests"
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}

Fault = Callable[[int, str, str], str | None]
"""Function that returns the fault for a request, given its number, method and path; None for no fault."""


SERVE = """
import threading
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
threading.Event().wait()
"""
"""moto's server on a port that it chooses itself: one that was free before it starts may be taken by then."""


class Server:
    """moto's server."""

    def __enter__(self) -> "Server":
        command = [sys.executable, "-c", SERVE]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """Environment variables for the server's clients."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
        }

    def create_bucket(self, name: str) -> "Bucket":
        """Create a bucket; moto needs no signature, and boto3 takes half a second to load its descriptions."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request("PUT", f"/{name}")
            assert connection.getresponse().status == 200
        return Bucket(self, name)


class Bucket:
    """A bucket, which is accessed directly, without the program or a proxy."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self._store = S3Store(
            name,
            endpoint=server.url,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region="us-east-1",
            client_options={"allow_http": True},
        )

    def url(self, path: str = "t.zarr") -> str:
        return f"s3://{self.name}/{path}"

    def listing(self) -> list[str]:
        return sorted(one["path"] for one in obstore.list(self._store).collect())

    def get(self, key: str) -> bytes:
        return bytes(obstore.get(self._store, key).bytes())

    def put(self, key: str, content: bytes) -> None:
        obstore.put(self._store, key, content, use_multipart=False)

    def delete(self, key: str) -> None:
        obstore.delete(self._store, key)

    def fill(self, contents: dict[str, bytes], path: str = "t.zarr") -> None:
        """Replace the contents of a store, which are given by their paths in the store."""
        for key in self.contents(path):
            self.delete(f"{path}/{key}")
        for key, content in contents.items():
            self.put(f"{path}/{key}", content)

    def contents(self, path: str = "t.zarr") -> dict[str, bytes]:
        """Return all objects of a store, by their paths in the store."""
        return {key.removeprefix(f"{path}/"): self.get(key) for key in self.listing() if key.startswith(f"{path}/")}


class Proxy:
    """A proxy in front of a server; `fault` chooses a fault for each request.

    "drop" closes the connection; "lose" passes the request on and then closes the connection; "truncate" answers with
    half of the content; "unconditional" removes the conditions; "stall" never answers; a number is the status of the
    answer.
    """

    def __init__(self, server: Server) -> None:
        self.fault: Fault = lambda number, method, path: None
        self.requests: list[tuple[str, str]] = []
        self.closed = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, server.port))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        self.closed.set()
        self._http.shutdown()
        self._http.server_close()

    def fail_for(self, seconds: float, fault: str, after: int = 0) -> None:
        """Let the next ``after`` requests pass, and then all requests fail for some seconds."""
        first = len(self.requests) + after
        began: list[float] = []

        def during(number: int, method: str, path: str) -> str | None:
            if number < first:
                return None
            began.append(time.monotonic())
            return fault if time.monotonic() - began[0] < seconds else None

        self.fault = during


def _handler(proxy: Proxy, port: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # otherwise the content waits 40 ms for an acknowledgement of the headers

        def _pass(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            proxy.requests.append((self.command, self.path))
            fault = proxy.fault(len(proxy.requests) - 1, self.command, self.path)
            self.close_connection = fault is not None
            if fault == "stall":
                proxy.closed.wait()
            if fault in ("drop", "stall"):
                return
            if fault is not None and fault.isdigit():
                self._answer(int(fault), {}, b"")
                return
            status, headers, answer = self._forward(content, fault)
            if fault == "lose":
                return
            self._answer(status, headers, answer, truncated=fault == "truncate")

        def _forward(self, content: bytes, fault: str | None) -> tuple[int, dict[str, str], bytes]:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            if fault == "unconditional":
                headers = {name: value for name, value in headers.items() if not name.lower().startswith("if-")}
            connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            try:
                connection.request(self.command, self.path, content, headers)
                response = connection.getresponse()
                return response.status, dict(response.getheaders()), response.read()
            except (OSError, HTTPException):
                return 502, {}, b""
            finally:
                connection.close()

        def _answer(self, status: int, headers: dict[str, str], content: bytes, truncated: bool = False) -> None:
            self.send_response_only(status)
            lengths = [value for name, value in headers.items() if name.lower() == "content-length"]
            for name, value in headers.items():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            length = lengths[0] if lengths and self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", length)
            if self.close_connection:  # otherwise the client might send another request while it closes
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if truncated else content)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _pass  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Keep the output of the tests clean."""

    return Handler
