import os
import subprocess
from pathlib import Path

from programs import PROGRAM

from antipodes.cli.main import remove_settings

HARMFUL = {
    "NUMBA_DISABLE_JIT": "1",
    "NUMBA_NUM_THREADS": "0",
    "ZARR_ARRAY__WRITE_EMPTY_CHUNKS": "true",
    "ZARR_ASYNC__CONCURRENCY": "x",
    "ZARR_DEFAULT_ZARR_FORMAT": "2",
    "ZARR_THREADING__MAX_WORKERS": "-1",
}


def test_only_harmful_settings_of_libraries_are_removed() -> None:
    kept = {"ZARR_ASYNC__CONCURRENCY": "64", "NUMBA_NUM_THREADS": "4", "NUMBA_CACHE_DIR": "/tmp", "DASK_X": "?"}
    environment = {**HARMFUL, **kept}
    remove_settings(environment)
    assert environment == kept


def test_a_run_among_harmful_settings(tmp_path: Path) -> None:
    command = [*PROGRAM, "run", "knights-coloured", "--quiet", "--store", str(tmp_path / "t.zarr")]
    ended = subprocess.run(command, env={**os.environ, **HARMFUL}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
