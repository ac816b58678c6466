"""Reports of stores of every kind: what they say, and that names in them are text."""

import itertools
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from stores import stop_after

import antipodes as ap
from antipodes.puzzles.config import Config, load_config
from antipodes.report_page import store_report
from antipodes.report_page.store_report import _share
from antipodes.storage.backend import MANIFEST
from antipodes.storage.manifest_file import ManifestFile, digest
from antipodes.tables.display import show_result
from antipodes.tables.drawing import scramble
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.store.search_stores import TableStore
from antipodes_tasks.base.errors import InputError, NotAStoreError, StoreChangedError, StoreError

if TYPE_CHECKING:
    from s3 import Bucket

EVIL = """<img src=x onerror="alert(1)"> & '</title></style><script>alert(2)</script>"""
NEVER = {"script", "img", "iframe", "object", "embed", "link", "a", "form", "base"}
"""Elements that run, load or lead elsewhere."""


class Page(HTMLParser):
    """A report as a browser reads it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.text, self.tags, self.open = "", [], []
        self.attributes: list[tuple[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += f"{data} "

    def count(self, class_: str) -> int:
        return self.attributes.count(("class", class_))


def check(page: Page) -> None:
    """What holds for all reports: they are well formed, and load and run nothing."""
    assert page.open == []
    assert not NEVER & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    links = {value for name, value in page.attributes if name in ("href", "src", "xlink:href")}
    assert all(link.startswith("#s") for link in links)
    names = [value for name, value in page.attributes if name == "id"]
    assert len(names) == len(set(names))
    assert {link[1:] for link in links} == set(names)


@pytest.fixture
def reported(tmp_path: Path) -> Callable[..., Page]:
    """Writes the report on a store, and reads it."""

    def report(store: Path | str, **options: Any) -> Page:
        page = Page(ap.report(store, tmp_path / "report.html", **options))
        check(page)
        return page

    return report


def test_table(finished: Path, reported: Callable[..., Page]) -> None:
    page = reported(finished)
    for expected in ("eight-puzzle", "181,440", "24,047", "21.97", "2 positions are 31 moves away from the start."):
        assert expected in page.text
    assert "8 6 7 2 5 4 3 0 1" in page.text
    assert page.count("board") == 1 + 2 + 32  # the start, the antipodes, and a path
    assert page.count("chart") == 2
    assert 'family = "sliding"' in page.text
    assert "symmetry class" not in page.text
    assert f"antipodes verify {finished}" in page.text
    assert "antipodes run eight-puzzle" in page.text
    assert load_config("eight-puzzle").puzzle.fingerprint in page.text
    assert digest((finished / MANIFEST).read_bytes()) in page.text


def test_each_count_is_in_the_table(finished: Path, reported: Callable[..., Page]) -> None:
    page = reported(finished)
    for depth, count in enumerate(ap.open_table(finished).layers):
        assert re.search(rf"\b{depth}  *{count:,} ", page.text), depth


def test_no_share_is_rounded_to_nothing_or_to_everything() -> None:
    shares = [_share(count, 2000) for count in (1, 2, 1998, 1999, 2000)]
    assert shares == ["< 0.1 %", "0.1 %", "99.9 %", "> 99.9 %", "100.0 %"]


def test_few_of_many_antipodes(finished: Path, reported: Callable[..., Page]) -> None:
    page = reported(finished, limit=1)
    assert "2 positions are 31 moves away from the start; the first is drawn." in page.text
    assert page.count("board") == 1 + 1 + 32


def test_counts(tmp_path: Path, reported: Callable[..., Page]) -> None:
    ap.run("eight-puzzle", tmp_path / "c.zarr", counts_only=True, symmetry="on")
    page = reported(tmp_path / "c.zarr")
    assert "181,440" in page.text
    assert re.search(r"symmetries  *2, with one position stored per symmetry class", page.text)
    assert page.count("board") == 1 + 2
    assert "A shortest path" not in page.text
    assert "antipodes run eight-puzzle --counts-only" in page.text


def test_unfinished(unfinished: Path, reported: Callable[..., Page]) -> None:
    page = reported(unfinished)
    assert (
        f"Unfinished: all positions up to depth 10 are known. Resume with: antipodes resume {unfinished}" in page.text
    )
    assert "286 positions are 10 moves away from the start; the first 12 are drawn." in page.text
    assert page.count("board") == 1 + 12 + 11


def test_unfinished_counts(tmp_path: Path, reported: Callable[..., Page]) -> None:
    ap.run("eight-puzzle", tmp_path / "c.zarr", counts_only=True, interrupted=stop_after(10))
    page = reported(tmp_path / "c.zarr")
    assert "Unfinished" in page.text
    assert page.count("board") == 1


def test_before_the_first_commit(tmp_path: Path, reported: Callable[..., Page]) -> None:
    config = load_config("eight-puzzle")
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle).cut)
    page = reported(tmp_path / "t.zarr")
    assert "nothing is committed yet" in page.text
    assert page.count("chart") == 0


def test_only_starts(tmp_path: Path, reported: Callable[..., Page]) -> None:
    """A puzzle whose only move leads nowhere else has no path to show."""
    ap.run(
        Config({"name": "still", "family": "generators", "start": "0 0", "moves": {"X": [1, 0]}}), tmp_path / "t.zarr"
    )
    page = reported(tmp_path / "t.zarr")
    assert "1 position is 0 moves away" in page.text


def test_moves_that_cannot_be_undone(tmp_path: Path, reported: Callable[..., Page]) -> None:
    settings = {"name": "wheel", "family": "generators", "start": "0 1 2 3 4", "turns": "single"}
    ap.run(Config({**settings, "moves": {"L": [1, 2, 3, 4, 0]}}), tmp_path / "t.zarr")
    page = reported(tmp_path / "t.zarr")
    assert "From the start to the first position above in 4 moves" in page.text
    assert page.text.count(" L ") >= 4


def test_a_path_leads_to_the_goal(tmp_path: Path, reported: Callable[..., Page]) -> None:
    config = Config({"name": "one", "family": "blocks", "start": "A..\n...\n", "goal": "???\n??A\n"})
    ap.run(config, tmp_path / "t.zarr")
    assert "to the goal in 3 moves" in reported(tmp_path / "t.zarr").text


def test_a_path_with_free_moves(tmp_path: Path, reported: Callable[..., Page]) -> None:
    wheels = {"family": "generators", "n": 5, "moves": {"L": "(0 1 2)", "R": "(2 3 4)"}, "free": ["L"]}
    ap.run(Config({"name": "wheels", **wheels}), tmp_path / "store")
    page = reported(tmp_path / "store")
    assert "From the start to the first position above in" in page.text
    table = ap.open_table(tmp_path / "store")
    for names in (scramble(table.puzzle, path) for path in table.paths(table.antipodes()) if path is not None):
        assert table.distance(table.puzzle.follow(" ".join(names))[-1]) == table.radius == len(names)


def test_goals_that_the_start_cannot_reach_are_neither_drawn_nor_counted(
    tmp_path: Path, reported: Callable[..., Page]
) -> None:
    cars = {"name": "cars", "family": "blocks", "distinct": True, "start": "A.B.", "goal": ["BA..", "A..B", ".A.B"]}
    store = tmp_path / "t.zarr"
    ap.run(Config(cars), store)
    with ap.open_table(store) as table:
        assert table.layers[0] == 2 < len(table.puzzle.start_labels), "the order of the blocks never changes"
        first, caption = table.captioned_start()
        assert table.distance(first) == 0
        assert caption == "one of 2 goals"
        assert show_result("Table", table.puzzle, first, table.layers, True, str(store)) == table._repr_html_()
    assert table.captioned_start()[1] == "the start", "a closed table reads nothing"
    assert "one of 2 goals" in reported(store).text

    ap.run(Config(cars), tmp_path / "c.zarr", counts_only=True)
    text = reported(tmp_path / "c.zarr").text
    assert "the start" in text
    assert "one of" not in text


def test_tilings(tmp_path: Path, reported: Callable[..., Page]) -> None:
    ap.tile("3x20", tmp_path / "t.zarr")
    page = reported(tmp_path / "t.zarr")
    for expected in ("3x20", "tilings up to symmetry", "8", "2 tilings; rotated", "antipodes tile 3x20"):
        assert expected in page.text
    assert page.count("board") == 1 + 2  # the first once more, at the top


def test_tilings_from_the_first_to_the_last(tmp_path: Path, reported: Callable[..., Page]) -> None:
    ap.tile("8x8-minus-centre", tmp_path / "t.zarr")
    page = reported(tmp_path / "t.zarr", limit=3)
    assert "65 tilings, 3 of them drawn" in page.text
    assert [number for number in ("1", "33", "65") if f" {number} " in page.text] == ["1", "33", "65"]


def test_unfinished_tilings(tmp_path: Path, reported: Callable[..., Page]) -> None:
    asked = itertools.count()
    ap.tile("6x10", tmp_path / "t.zarr", workers=1, interrupted=lambda: next(asked) >= 2)
    page = reported(tmp_path / "t.zarr")
    assert re.search(r"Unfinished: \d of 7 partitions have been searched", page.text)


def test_names_are_text(tmp_path: Path, reported: Callable[..., Page]) -> None:
    symbols = ["<b>", "<svg>", "&amp;", '"x"', "<script>"]
    config = Config(
        {
            "name": "evil",
            "family": "generators",
            "description": EVIL,
            "start": " ".join(symbols),
            "moves": {"<i>": [1, 2, 3, 4, 0], "X&Y": "(0 1)"},
        }
    )
    ap.run(config, tmp_path / "t.zarr")
    page = reported(tmp_path / "t.zarr")
    assert EVIL in page.text
    assert "<i>" in page.text
    for symbol in symbols:
        assert symbol in page.text


def test_a_long_path_is_thinned(finished: Path, reported: Callable[..., Page], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.report_page.store_report.MAX_STEPS", 10)
    page = reported(finished)
    assert "one step in 4 is drawn" in page.text
    assert page.count("board") == 1 + 2 + 9


@pytest.mark.parametrize("name", ["report.pdf", "report", "report.html.zip"])
def test_other_endings_are_refused_before_anything_is_read(name: str) -> None:
    with pytest.raises(InputError, match=r"expected a file name ending in \.html"):
        ap.report("no/such/store", name)


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(NotAStoreError):
        ap.report(tmp_path / "none.zarr", tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot write"):
        ap.report(finished, tmp_path / "no" / "report.html")


def test_a_run_that_commits_meanwhile(
    unfinished: Path, reported: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers of a page and its digest are of one commit."""
    made = store_report.search_page

    def finished_meanwhile(*arguments: Any) -> Any:
        page = made(*arguments)
        ap.run("eight-puzzle", unfinished)
        return page

    monkeypatch.setattr(store_report, "search_page", finished_meanwhile)
    page = reported(unfinished)
    assert "Unfinished" not in page.text
    assert digest((unfinished / MANIFEST).read_bytes()) in page.text


def test_a_run_that_always_commits(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ManifestFile, "has_changed", lambda self: True)
    with pytest.raises(StoreChangedError, match="try again"):
        ap.report(finished, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_store_in_a_bucket(bucket: "Bucket", reported: Callable[..., Page]) -> None:
    ap.tile("3x20", bucket.url())
    assert f"antipodes verify {bucket.url()}" in reported(bucket.url()).text


def test_odd_arguments(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot write"):
        ap.report(finished, tmp_path / "a\0.html")
    for odd in ({"output": 5}, {"address": 5}, {"limit": 0}, {"limit": "many"}, {"puzzle": 5}):
        with pytest.raises(InputError):
            ap.report(**{"address": finished, "output": tmp_path / "x.html", **odd})  # type: ignore[arg-type]


def test_a_puzzle_in_python_is_given(tmp_path: Path, reported: Callable[..., Page]) -> None:
    dial = ap.define_puzzle(name="dial", radices=[12], start=[0], moves={"+5": lambda dials: (dials + 5) % 12})
    ap.run(dial, tmp_path / "t.zarr")
    assert (
        "recomputes the store, in the program that defines the puzzle"
        in reported(tmp_path / "t.zarr", puzzle=dial).text
    )


def test_no_tilings(tmp_path: Path, reported: Callable[..., Page]) -> None:
    config = ap.BoardConfig({"name": "none", "cells": "..#\n#..", "pieces": {"O": "##\n##"}})
    ap.tile(config, tmp_path / "t.zarr")
    page = reported(tmp_path / "t.zarr")
    assert "the board, 4 cells" in page.text
    assert page.count("board") == 1
    assert "antipodes tile none.toml" in page.text


def test_an_older_file_is_replaced(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("older" * 100_000)
    assert "older" not in ap.report(finished, tmp_path / "report.html").read_text()
