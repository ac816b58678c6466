"""Compares whole processes of antipodes and CayleyPy on the same graphs; the layers must agree.

CayleyPy needs PyTorch; a CPU build is enough: ``pip install cayleypy==0.2 torch``. If CayleyPy is not installed, the
only result is a row that reports this.
"""

import json
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measure import ANTIPODES, Row, Run, median, run

TITLE = "CayleyPy on the same graphs"
REPEATS = 3
GRAPHS = {"pancake-10": "pancake(10)", "pancake-11": "pancake(11)", "topspin-11": "top_spin(11)"}
"""Bundled puzzles, with the call of ``PermutationGroups`` that returns the same graph."""
PROGRAM = """
import json
from cayleypy import CayleyGraph, PermutationGroups
graph = CayleyGraph(PermutationGroups.{call}, device="cpu")
print(json.dumps(graph.bfs(max_diameter=1000).layer_sizes))
"""


def measure() -> list[Row]:
    """Return one row per graph; the two programs alternate. Raise RuntimeError if their layers differ."""
    try:
        versions = f"CayleyPy {version('cayleypy')}, torch {version('torch')}"
    except PackageNotFoundError as missing:
        return [Row("CayleyPy", "", f"not measured: {missing.name} is not installed")]
    with tempfile.TemporaryDirectory() as folder:
        return [_compared(puzzle, call, versions, str(Path(folder) / "table.zarr")) for puzzle, call in GRAPHS.items()]


def _compared(puzzle: str, call: str, versions: str, store: str) -> Row:
    command = [*ANTIPODES, "run", puzzle, "--store", store, "--overwrite", "--json"]
    turns = [(run([sys.executable, "-c", PROGRAM.format(call=call)]), run(command)) for _ in range(REPEATS)]
    for theirs, ours in turns:
        if json.loads(theirs.output.splitlines()[-1]) != json.loads(ours.output)["layers"]:
            raise RuntimeError(f"CayleyPy and antipodes find different layers of {puzzle}")
    them, us = (_measured(runs) for runs in zip(*turns, strict=True))
    ratio = median([their.seconds / our.seconds for their, our in turns])
    return Row(
        f"`{puzzle}`: `antipodes run`, whole command, and {versions}, whole process",
        "",
        f"{us}; {them}; {ratio:.1f} times as fast",
    )


def _measured(runs: tuple[Run, ...]) -> str:
    seconds, memory = median([one.seconds for one in runs]), max(one.peak_bytes for one in runs)
    return f"{seconds:.1f} s, {memory / 1e9:.2f} GB"
