"""The notebooks run, produce the outputs stored in them, and stay small."""

from pathlib import Path

import notebooks
import pytest

WITHOUT_TORCH = [path for path in notebooks.NOTEBOOKS if path not in notebooks.LEARNING]
every_notebook = pytest.mark.parametrize("notebook", notebooks.NOTEBOOKS, ids=lambda path: path.stem)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", WITHOUT_TORCH, ids=lambda path: path.stem)
def test_cells_produce_the_stored_outputs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for cell, shown in zip(notebooks.cells(notebook), notebooks.outputs(notebook), strict=True):
        stored = [(one["output_type"], notebooks.plain(one)) for one in cell["outputs"]]
        assert stored == [(one["output_type"], notebooks.plain(one)) for one in shown], (
            "run python tests/support/notebooks.py to store the outputs"
        )


@every_notebook
def test_a_notebook_is_small_and_has_no_paths_of_a_machine(notebook: Path) -> None:
    assert notebook.stat().st_size < 80_000
    assert "/tmp" not in notebook.read_text(encoding="utf-8")
    assert "/home" not in notebook.read_text(encoding="utf-8")


@every_notebook
def test_a_notebook_explains_itself(notebook: Path) -> None:
    texts = ["".join(cell["source"]) for cell in notebooks.cells(notebook, "markdown")]
    assert texts[0].startswith("# ")
    assert 2 * len(texts) >= len(notebooks.cells(notebook)), "expected at least one text cell for every two cells"


def test_all_notebooks_are_found() -> None:
    learning, others = {"train-a-network"}, {"first-table", "heuristic-search", "puzzle-in-python", "training-data"}
    assert {path.stem for path in notebooks.LEARNING} == learning
    assert {path.stem for path in notebooks.NOTEBOOKS} == learning | others
