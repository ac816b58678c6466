"""The history of benchmarks: which entry a run is compared with, and what the page shows of it."""

import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

from benchmarks.__main__ import table
from benchmarks.chart import SHOWN, draw
from benchmarks.history import Entry, append, change, entries, entry, hardware, last_entry
from benchmarks.measure import Row


def made(machine: str, **figures: str) -> Entry:
    return Entry(
        "2026-01-01", machine, "Python 3.11", "abc", {f"Tables: {what}": text for what, text in figures.items()}
    )


@pytest.mark.parametrize(
    ("before", "now", "shown"),
    [
        ("2.00 s", "1.50 s", "-25 %"),
        ("0.081 s, 39.6 times", "0.162 s, 20.0 times", "+100 %"),
        ("900 ms", "1.8 s", "+100 %"),
        ("213 MB", "213 MB", "+0 %"),
        ("1,500 MB", "3 GB", "+100 %"),
        ("1.00 s", "1.00 MB", ""),
        ("yes", "1 s", ""),
        ("0 s", "1 s", ""),
        (None, "1 s", ""),
    ],
)
def test_change(before: str | None, now: str, shown: str) -> None:
    assert change(before, now) == shown


def test_the_last_entry_of_the_same_machine_counts(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    assert last_entry("a", file) is None
    for one in (made("a", run="3 s"), made("a", run="2 s"), made("b", run="1 s")):
        append(one, file)
    assert last_entry("a", file) == made("a", run="2 s")
    assert last_entry("c", file) is None


def test_the_table_has_a_column_of_changes() -> None:
    rows = [Row("run", "4 s", "1 s, 3 times"), Row("new", "", "5 s")]
    assert table("Tables", rows, made("a", run="2 s")).splitlines()[2:] == [
        "| run | 4 s | 1 s, 3 times | -50 % |",
        "| new |  | 5 s |  |",
    ]
    assert table("Tables", rows, None).splitlines()[2] == "| run | 4 s | 1 s, 3 times |  |"


def test_an_entry_names_machine_and_commit() -> None:
    found = entry({"Tables: run": "1 s"})
    assert found.machine == hardware()
    assert found.commit


def test_the_chart_shows_all_measurements_of_all_runs(tmp_path: Path) -> None:
    runs, path = entries(), tmp_path / "chart.svg"
    draw(runs, path)
    text = path.read_text(encoding="utf-8")
    assert all(one.commit in text for one in runs)
    assert all(label in text for label in SHOWN)
    draw(runs, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == text


def test_the_chart_finds_its_measurements() -> None:
    """A renamed measurement would end its line without notice."""
    assert set(SHOWN.values()) <= entries()[-1].figures.keys()


def test_modules_are_measured_in_a_new_process() -> None:
    command = [sys.executable, "-m", "benchmarks", "no_such_module"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.stderr.endswith("ModuleNotFoundError: No module named 'benchmarks.no_such_module'\n")
