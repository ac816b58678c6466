"""The bar in a notebook, whose display keeps what it was told to show."""

import math
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import antipodes as ap
from antipodes.progress import notebook_bar
from antipodes.progress.show import in_notebook, show_progress
from antipodes.system.events import LayerFinished, SearchStarted, WorkerRefused


class Display:
    """The place below a cell."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def __call__(self, bundle: dict[str, str], raw: bool, display_id: bool) -> "Display":
        assert raw
        assert display_id
        return self.update(bundle, raw)

    def update(self, bundle: dict[str, str], raw: bool) -> "Display":
        self.shown.append(bundle["text/html"])
        return self


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Display:
    """A notebook's kernel, in which any change is drawn."""
    place = Display()
    shell: Any = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=place))  # type: ignore[arg-type]
    monkeypatch.setattr(notebook_bar, "FIRST_SECONDS", 0)
    monkeypatch.setattr(notebook_bar, "REDRAWN_SECONDS", 0)
    return place


def test_neither_a_program_nor_a_terminal_is_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    for shell in (None, SimpleNamespace()):
        ipython: Any = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        assert not in_notebook()


def test_a_bar(display: Display, capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress(quiet=False) as listener:
        listener(SearchStarted("<p>", 1000, 7, 50, False, reachable=800))
        listener(LayerFinished(8, 100, 200, 2.5e6))
        listener(WorkerRefused("it has numpy 2.3"))
        *_, last = display.shown
        assert re.search(r'<progress [^>]*value="200" max="800">', last)
        for expected in ("&lt;p&gt;", "layer 8", "200 positions", "2.5 million/s"):
            assert expected in last
    assert display.shown[-1] == "", "the bar is gone when the run is"
    assert "it has numpy 2.3" in capsys.readouterr().err


def test_quick_work_shows_none(display: Display, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_bar, "FIRST_SECONDS", math.inf)
    with show_progress(quiet=False) as listener:
        listener(LayerFinished(8, 100, 200, 2.5e6))
    assert display.shown == []


def test_it_is_not_drawn_too_often(display: Display, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_bar, "REDRAWN_SECONDS", math.inf)
    monkeypatch.setattr(notebook_bar, "FIRST_SECONDS", 0)
    with show_progress(quiet=False) as listener:
        for depth in range(50):
            listener(LayerFinished(depth, 100, 200, 2.5e6))
    assert len(display.shown) == 2  # and once to take it away


def test_runs_show_it_unless_told_otherwise(display: Display, tmp_path: Path) -> None:
    ap.run("eight-puzzle", tmp_path / "t.zarr")
    assert any("layer" in shown for shown in display.shown)
    display.shown.clear()
    ap.tile("3x20", tmp_path / "tilings.zarr")
    assert any("partitions" in shown for shown in display.shown)
    display.shown.clear()
    ap.run("eight-puzzle", tmp_path / "t.zarr", overwrite=True, progress=False)
    assert display.shown == []


def test_a_search(display: Display) -> None:
    answer = ap.solve("eight-puzzle", "8 6 7 2 5 4 3 0 1", method="bidirectional")
    assert answer.distance == 31
    assert any("bidirectional" in shown and "expanded" in shown for shown in display.shown)
    assert display.shown[-1] == ""
    assert "value=" not in "".join(display.shown), "nobody knows how much is left"
