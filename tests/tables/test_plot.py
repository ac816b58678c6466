import subprocess
import sys
from pathlib import Path

import pytest
from programs import Command

from antipodes.tables.drawing import plot_layers
from antipodes_tasks.errors import InputError, StoreError


@pytest.mark.parametrize("layers", [[1], [1, 2, 4, 3], [1] * 300])
def test_pictures(layers: list[int], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot_layers(layers, "five-tiles", tmp_path / "layers.svg", complete=False)
    assert "<svg" in (tmp_path / "layers.svg").read_text()


def test_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match="ending in"):
        plot_layers([1, 2], "p", tmp_path / "layers.doc")
    with pytest.raises(StoreError, match="cannot write"):
        plot_layers([1, 2], "p", tmp_path / "none" / "layers.svg")


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.drawing.find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install"):
        plot_layers([1, 2], "p", tmp_path / "layers.svg")


def test_endings_are_refused_before_the_store_is_read(cli: Command) -> None:
    for name in ("layers.doc", "layers", "layers.svgz"):
        assert "expected a file name ending in" in cli("layers", "none.zarr", "--plot", name).err


@pytest.mark.parametrize(("command", "needed"), [("--help", []), ("puzzles", []), ("boards", [])])
def test_heavy_libraries_are_loaded_only_by_commands_that_need_them(command: str, needed: list[str]) -> None:
    code = (
        "import sys; from antipodes.cli import run_command; run_command([sys.argv[1]]);"
        "print(sorted({'matplotlib', 'numba', 'zarr', 'dask', 'distributed', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, command], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(needed)


def test_rank_does_not_load_the_compiler() -> None:
    code = (
        "import sys; from antipodes.cli import run_command; run_command(sys.argv[1:]);"
        "import antipodes.tables.table; print('numba' in sys.modules)"
    )
    arguments = ["rank", "eight-puzzle", "123456780"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
