import json
from pathlib import Path

from programs import Command


def test_report(cli: Command, finished: Path, tmp_path: Path) -> None:
    outcome = cli("report", finished, "--output", "page.html")
    assert (outcome.status, outcome.out) == (0, "")
    assert outcome.err.startswith("antipodes: report written to page.html, ")
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_json(cli: Command, finished: Path, tmp_path: Path) -> None:
    shown = json.loads(cli("report", finished, "--output", "page.html", "--json", "--limit", 1).out)
    size = (tmp_path / "page.html").stat().st_size
    assert shown == {"store": str(finished), "output": "page.html", "bytes": size}
