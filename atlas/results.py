"""What runs found: computed, kept in ``results.json``, read again."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from antipodes.config import Config, load_config
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.symmetries.finding import symmetries_of
from atlas.entries import Settings
from benchmarks.measure import ANTIPODES, run

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Result:
    """A complete table, without its bytes."""

    index_size: int
    layers: list[int]
    antipode: str
    """One of them, as text."""
    seconds: float
    """The whole command."""
    symmetries: int
    """The order of the group of its symmetries, 1 if the identity is the only one."""
    unique: list[int] | None
    """The layers up to symmetry; None if there are too many symmetries to tell."""

    @property
    def states(self) -> int:
        """The number of positions that can be reached."""
        return sum(self.layers)

    @property
    def radius(self) -> int:
        """The greatest distance."""
        return len(self.layers) - 1


@dataclass(frozen=True)
class Results:
    """All that the page says."""

    machine: str
    puzzles: dict[str, Result]
    """By the names of bundled puzzles."""
    families: dict[str, dict[str, list[int]]]
    """The layers by the title of the family and the size."""


def read_results() -> Results:
    """The results in the file; none if there is no file."""
    if not FILE.exists():
        return Results("", {}, {})
    content: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    puzzles = {name: Result(**result) for name, result in content["puzzles"].items()}
    return Results(content["machine"], puzzles, content["families"])


def write_results(results: Results) -> None:
    """Replace the file, a line for each puzzle and each family."""
    lines = [f'{{"machine": {json.dumps(results.machine)},', '"puzzles": {']
    lines.append(_lines({name: asdict(result) for name, result in results.puzzles.items()}))
    lines += ["},", '"families": {', _lines(results.families), "}}"]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lines(values: Mapping[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())


def result_of(name: str) -> Result:
    """Compute the table of a bundled puzzle in a process of its own, as ``antipodes run`` does.

    It is computed twice, since a first run on a machine compiles what it needs.
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
    """The number of positions at each depth of a puzzle, computed here."""
    with tempfile.TemporaryDirectory(prefix="atlas-") as folder:
        report = run_puzzle(Config({"name": "atlas", **settings}), Path(folder) / "table.zarr")
    return list(report.manifest.layers)
