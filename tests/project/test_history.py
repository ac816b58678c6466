"""The results of benchmarks: parts, the history, targets, and what the page shows of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

from benchmarks import __main__ as program
from benchmarks import history, page, results
from benchmarks.chart import SHOWN, draw
from benchmarks.history import Entry, add, change, earlier_figures, entries, hardware
from benchmarks.measure import Row
from benchmarks.page import table
from benchmarks.results import Section
from benchmarks.targets import is_missed

MADE = {"date": "2026-01-01", "machine": "a", "software": "Python 3.11", "commit": "abc"}


@pytest.mark.parametrize(
    ("before", "now", "shown"),
    [
        ("2.00 s", "1.50 s", "-25 %"),
        ("0.081 s, 39.6 times", "0.162 s, 20.0 times", "+100 %"),
        ("900 ms", "1.8 s", "+100 %"),
        ("213 MB", "213 MB", "+0 %"),
        ("1,500 MB", "3 GB", "+100 %"),
        ("1 GiB", "2,048 MiB", "+100 %"),
        ("1.00 s", "1.00 MB", ""),
        ("yes", "1 s", ""),
        ("0 s", "1 s", ""),
        (None, "1 s", ""),
    ],
)
def test_change(before: str | None, now: str, shown: str) -> None:
    assert change(before, now) == shown


@pytest.mark.parametrize(
    ("target", "measured", "missed"),
    [
        ("4 s", "3.9 s, 0.50 GiB", False),
        ("20 s, 3 GiB", "12 s, 3.02 GiB", True),
        ("6 s, 1 s", "5.9 s, 1.2 s", True),
        ("2 minutes", "121 s", True),
        ("40,000; 1 s; 20 million/s", "20,959; 0.47 s; 4.4 million/s", True),
        ("40 million/s in the search", "1.5 s; search 0.2 s, 191 million/s", False),
        ("3 s; search 1.2 s", "1.6 s; search 1.3 s", True),
        ("median 50 ms, p99 100 ms", "median 57.1 ms, p99 85.4 ms", True),
        ("p99 100 ms", "median 57.1 ms, p99 120 ms", True),
        ("20 times as fast as the C program", "0.1 s, 25.4 times as fast", False),
        ("20 times as fast as the C program", "0.1 s, 19.9 times as fast", True),
        ("1.5 times the time of two threads", "8.3 s, 2.08 times", True),
        ("10% of the search", "151%", True),
        ("", "151%", False),
        ("unchanged", "619 MiB", False),
    ],
)
def test_a_missed_target_is_noticed(target: str, measured: str, missed: bool) -> None:
    assert is_missed(target, measured) == missed


def test_parts_of_a_commit_are_one_entry_and_other_commits_are_compared(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    assert earlier_figures("a", "abc", file) == {}
    for made, figures in (
        ({"commit": "old"}, {"Tables: run": "3 s", "Tables: query": "1 s"}),
        ({"commit": "older", "machine": "b"}, {"Tables: run": "9 s"}),
        ({}, {"Tables: run": "2 s"}),
        ({}, {"Tilings: run": "4 s"}),
    ):
        add(figures, {**MADE, **made}, file)
    assert entries(file)[2:] == [Entry(figures={"Tables: run": "2 s", "Tilings: run": "4 s"}, **MADE)]
    assert earlier_figures("a", "abc", file) == {"Tables: run": "3 s", "Tables: query": "1 s"}
    assert earlier_figures("c", "abc", file) == {}


def test_the_table_has_a_column_of_changes_and_remarks_on_missed_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "history.jsonl"
    rows = (Row("run", "4 s", "1 s, 3 times"), Row("new", "4 s", "5 s"))
    monkeypatch.setattr(page, "REMARKS", {"Tables: run": "unused", "Tables: new": "the disk is slow"})
    section = Section("Tables", rows, **MADE)
    assert table(section, file).splitlines()[2] == "| run | 4 s | 1 s, 3 times |  |"
    add({"Tables: run": "2 s"}, {**MADE, "commit": "old"}, file)
    assert table(section, file).splitlines()[2:] == [
        "| run | 4 s | 1 s, 3 times | -50 % |",
        "| new | 4 s | 5 s (the disk is slow) |  |",
    ]


def test_modules_measured_in_parts_are_on_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((results, "results.json"), (history, "history.jsonl")):
        monkeypatch.setattr(module, "FILE", tmp_path / name)
    monkeypatch.setattr(program, "draw", lambda runs, path: None)
    monkeypatch.setattr(page, "DOCS", tmp_path)
    monkeypatch.setattr(page, "RESULTS", tmp_path / "page.md")
    seconds = iter((1, 2, 3))
    titles, what = {"tables": "Distance tables", "tilings": "Tilings"}, "`antipodes --help`"
    monkeypatch.setattr(program, "measured", lambda name: (titles[name], [Row(what, "", f"{next(seconds)} s")]))
    program.main(["tables"])
    program.main(["tilings"])
    program.main(["tables", "--only-print"])
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if what in line] == [f"| {what} |  | {k} s |  |" for k in (1, 2)]
    assert "python -m benchmarks kernels" in text
    (entry,) = entries(tmp_path / "history.jsonl")
    assert entry.figures == {f"Distance tables: {what}": "1 s", f"Tilings: {what}": "2 s"}
    assert (entry.machine, bool(entry.commit)) == (hardware(), True)


@pytest.mark.slow
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
    assert set(SHOWN.values()) <= {key for one in results.read().values() for key in one.figures()}


def test_modules_are_measured_in_a_new_process() -> None:
    command = [sys.executable, "-m", "benchmarks", "no_such_module"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.stderr.endswith("ModuleNotFoundError: No module named 'benchmarks.no_such_module'\n")
