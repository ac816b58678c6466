"""The results of the runs: computing them, and reading and writing ``results.json``."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from antipodes.puzzles.config import Config, load_config
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.properties.finding import symmetries_of
from benchmarks.measure import ANTIPODES, run
from workshop.atlas.entries import Settings

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Result:
    """The results of one complete table."""

    index_size: int
    layers: list[int]
    antipode: str
    """One of the antipodes, as text."""
    seconds: float
    """Duration of the whole command."""
    symmetries: int
    """Number of symmetries of the puzzle, including the identity."""
    unique: list[int] | None
    """The layers up to symmetry; None if there are too many symmetries to count them."""

    @property
    def states(self) -> int:
        """Number of reachable positions."""
        return sum(self.layers)

    @property
    def radius(self) -> int:
        """Maximum distance."""
        return len(self.layers) - 1


@dataclass(frozen=True)
class Results:
    """All results on the page."""

    machine: str
    puzzles: dict[str, Result]
    """Results by the name of the bundled puzzle."""
    families: dict[str, dict[str, list[int]]]
    """Layers by the title of the family and the size."""


def read_results() -> Results:
    """Read the results from the file; return empty results if there is no file."""
    if not FILE.exists():
        return Results("", {}, {})
    content: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    puzzles = {name: Result(**result) for name, result in content["puzzles"].items()}
    return Results(content["machine"], puzzles, content["families"])


def write_results(results: Results) -> None:
    """Replace the file, with one line for each puzzle and each family."""
    lines = [f'{{"machine": {json.dumps(results.machine)},', '"puzzles": {']
    lines.append(_lines({name: asdict(result) for name, result in results.puzzles.items()}))
    lines += ["},", '"families": {', _lines(results.families), "}}"]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lines(values: Mapping[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())


def result_of(name: str) -> Result:
    """Compute the table of a bundled puzzle with ``antipodes run``.

    The table is computed twice and the second run is timed, because the first run on a machine compiles kernels.
    """
    puzzle = load_config(name).puzzle
    with tempfile.TemporaryDirectory(prefix="atlas-") as folder:
        store = str(Path(folder) / "table.zarr")
        command, _ = [run([*ANTIPODES, "run", name, "--store", store, "--json", "--overwrite"]) for _ in range(2)][::-1]
        report = json.loads(command.output)
        with open_table(store) as table:
            (antipode,) = table.antipodes(1)
            order = symmetries_of(puzzle.rules).order
            try:
                unique = table.unique_layers()
            except ResourceLimitError:
                unique = None
    seconds = round(command.seconds, 1)
    return Result(report["index_size"], report["layers"], puzzle.format(antipode), seconds, order, unique)


def layers_of(settings: Settings) -> list[int]:
    """Compute and return the number of positions at each depth of a puzzle."""
    with tempfile.TemporaryDirectory(prefix="atlas-") as folder:
        report = run_puzzle(Config({"name": "atlas", **settings}), Path(folder) / "table.zarr")
    return list(report.manifest.layers)
