"""The page on publishing: its code reads a store from a web server, without the program."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from documents import blocks
from project import DOCS

ADDRESS = '"https://example.org/tables/eight-puzzle.zarr"'


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(finished: Path) -> Iterator[str]:
    """Where a plain web server has the folder of a finished table."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(finished.parent))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{finished.name}"
        server.shutdown()


def test_the_code_reads_a_published_table(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks((DOCS / "how-to" / "publish.md").read_text(encoding="utf-8"), "python")
    assert "antipodes." not in code.replace('"antipodes"', "")
    assert ADDRESS in code
    exec(code.replace(ADDRESS, f'"{address}", client_options={{"allow_http": True}}'), {})
    first, by_array, by_manifest = capsys.readouterr().out.splitlines()
    assert first == "31 181440"
    assert by_array.strip("[]").split() == by_manifest.strip("[]").split(", ")
    assert len(by_array.split()) == 2
