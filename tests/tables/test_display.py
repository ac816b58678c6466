"""Tables, counts, positions and paths in notebooks: what they show, how little they read, and that names are text."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from stores import stop_after

import antipodes as ap
from antipodes.puzzles.config import Config
from antipodes.storage.arrays import Arrays
from antipodes_tasks.base.errors import PositionError, UnreachableError

ANTIPODE = "8 6 7 / 2 5 4 / 3 0 1"


def text_of(html: str) -> str:
    """The text of an element, which has to be well formed."""
    return " ".join("".join(ET.fromstring(html).itertext()).split())


def html_of(one: Any) -> str:
    html = one._repr_html_()
    assert isinstance(html, str)
    assert "<script" not in html
    names = re.findall(r'id="(\w+)"', html)
    assert set(re.findall(r'href="#(\w+)"', html)) == set(names)
    return html


def test_a_table_shows_itself_without_reading_chunks(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ap.open_table(finished) as table:
        monkeypatch.setattr(Arrays, "read_chunk", None)
        html = html_of(table)
    assert "eight-puzzle" in text_of(html)
    assert f"Table of 181,440 positionsradius 31, 2 antipodes{finished}" in text_of(html)
    assert html.count("<rect x=") >= 32, "a bar for each depth"
    assert len(html) < 20_000


def test_an_unfinished_table_says_how_to_go_on(unfinished: Path) -> None:
    text = text_of(html_of(ap.open_table(unfinished)))
    assert "radius 10 so far, unfinished" in text
    assert f"resume with: antipodes resume {unfinished}" in text


def test_counts_and_reports_of_runs(tmp_path: Path) -> None:
    report = ap.run("eight-puzzle", tmp_path / "c.zarr", counts_only=True)
    assert "Counts of 181,440 positions" in text_of(html_of(report))
    assert "computed in" in text_of(html_of(report))
    assert "Counts of 181,440 positions" in text_of(html_of(ap.open_counts(tmp_path / "c.zarr")))
    assert "computed" not in text_of(html_of(ap.run("eight-puzzle", tmp_path / "c.zarr", counts_only=True)))


def test_before_the_first_commit(tmp_path: Path) -> None:
    report = ap.run("eight-puzzle", tmp_path / "t.zarr", interrupted=stop_after(0))
    assert "so far, unfinished" in text_of(html_of(report)) or "nothing committed yet" in text_of(html_of(report))


def test_a_position(finished: Path, unfinished: Path) -> None:
    with ap.open_table(finished) as table:
        shown = table.show(ANTIPODE)
        assert "31 moves from the start" in text_of(html_of(shown))
        assert repr(shown).splitlines()[-1] == "31 moves from the start"
        assert table.puzzle.draw(table.puzzle.parse(ANTIPODE)) in repr(shown)
        assert "unreachable" in repr(table.show("2 1 3 / 4 5 6 / 7 8 0"))
        with pytest.raises(PositionError):
            table.show("1 2 3")
    with ap.open_table(unfinished) as table:
        assert "beyond depth 10, where the unfinished table ends" in repr(table.show(ANTIPODE))


def test_many_positions(finished: Path, unfinished: Path) -> None:
    with ap.open_table(finished) as table:
        shown = table.show_all(table.antipodes())
        assert html_of(shown).count(">31</div>") == 2
        assert repr(shown).splitlines()[0].split() == ["31", "31"]
        assert repr(shown).splitlines()[-1] == "2 positions: the moves from the start"
        some = table.show_all(table.positions_at(20), limit=3)
        assert html_of(some).count(">20</div>") == 3
        assert "16,993 positions, the first 3" in text_of(html_of(some))
        assert "unreachable" in repr(table.show_all(["2 1 3 / 4 5 6 / 7 8 0", ANTIPODE]))
        assert repr(table.show_all(table.antipodes(0))) == "0 positions: the moves from the start"
    with ap.open_table(unfinished) as table:
        assert "not reached yet" in repr(table.show_all([ANTIPODE]))


def test_a_path(finished: Path) -> None:
    with ap.open_table(finished) as table:
        shown = table.show_path(ANTIPODE)
        assert html_of(shown).count('<svg class="board"') == 32
        title = repr(shown).splitlines()[-1]
        assert title.startswith("31 moves to the start: ")
        assert title in text_of(html_of(shown))
        names = title.partition(": ")[2]
        assert (
            table.puzzle.follow(names, ANTIPODE and table.puzzle.parse(ANTIPODE))[-1] == table.path(ANTIPODE)[-1]
        ).all()
        with pytest.raises(UnreachableError):
            table.show_path("2 1 3 / 4 5 6 / 7 8 0")


def test_a_long_path_leaves_out_its_middle(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.display.MAX_STEPS", 10)
    with ap.open_table(finished) as table:
        assert html_of(table.show_path(ANTIPODE)).count('<svg class="board"') == 10


def test_moves_that_cannot_be_undone(tmp_path: Path) -> None:
    settings = {"name": "wheel", "family": "generators", "start": "0 1 2 3 4", "turns": "single"}
    ap.run(Config({**settings, "moves": {"L": [1, 2, 3, 4, 0]}}), tmp_path / "t.zarr")
    with ap.open_table(tmp_path / "t.zarr") as table:
        assert repr(table.show_path(table.antipodes()[0])).splitlines()[-1] == "4 moves from the start, in reverse"


def test_names_are_text(tmp_path: Path) -> None:
    symbols = {"start": "<b> <script> &amp;", "moves": {"<i>": [1, 2, 0]}}
    config = Config({"name": "evil", "family": "generators", **symbols})
    report = ap.run(config, tmp_path / "<img src=x>.zarr")
    assert "<img src=x>" in text_of(html_of(report))
    with ap.open_table(report.store) as table:
        assert "<i>" in text_of(html_of(table.show_path(table.antipodes()[0])))
