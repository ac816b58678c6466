"""Tilings and reports of their runs in notebooks."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import antipodes as ap
from antipodes.tilings.store import TilingStore


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ap.TilingReport:
    return ap.tile("8x8-minus-centre", tmp_path_factory.mktemp("tilings") / "t.zarr")


def text_of(html: str) -> str:
    return " ".join("".join(ET.fromstring(html).itertext()).split())


def test_a_run(report: ap.TilingReport) -> None:
    html = report._repr_html_()
    assert "65 tilings up to symmetry, 520 in all" in text_of(html)
    assert "searched in" in text_of(html)
    assert html.count('<svg class="board"') == 3


def test_tilings_draw_some_and_read_only_those(report: ap.TilingReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TilingStore, "tilings", None)
    html = ap.open_tilings(report.store)._repr_html_()
    assert html.count('<svg class="board"') == 3
    assert text_of(html).startswith("8x8-minus-centre65 tilings up to symmetry, 520 in all")
    raw = ap.open_tilings(report.store, raw=True)._repr_html_()
    assert "520 tilings, 65 tilings up to symmetry" in text_of(raw)
    assert raw.count('<svg class="board"') == 1


def test_closed_tilings_show_the_board(report: ap.TilingReport) -> None:
    with ap.open_tilings(report.store) as tilings:
        pass
    assert tilings._repr_html_().count('<svg class="board"') == 1


def test_an_unfinished_search(tmp_path: Path) -> None:
    asked = iter([False, False])
    unfinished = ap.tile("6x10", tmp_path / "t.zarr", workers=1, interrupted=lambda: next(asked, True))
    text = text_of(unfinished._repr_html_())
    assert "of 7 partitions are searched" in text
    assert f"resume with: antipodes resume {tmp_path / 't.zarr'}" in text


def test_a_tiling_is_a_picture(report: ap.TilingReport) -> None:
    with ap.open_tilings(report.store) as tilings:
        drawn = ET.fromstring(tilings[3]._repr_svg_())
    assert len(drawn.findall("{*}path")) == 12, "one area for each piece"


def test_tilings_from_the_first_to_the_last(report: ap.TilingReport) -> None:
    with ap.open_tilings(report.store) as tilings, ap.open_tilings(report.store, raw=True) as raw:
        for some in (tilings, raw):
            for most in (1, 2, 3, 10):
                spread = some.spread(most)
                assert all(some[number] == one for number, one in spread.items())
                assert (len(spread), min(spread)) == (most, 0)
                assert most == 1 or max(spread) == len(some) - 1
        assert list(tilings.spread(1000)) == list(range(65))
        assert tilings.spread(0) == {}
