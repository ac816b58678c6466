"""Complete state-space search: the distance of every position of a puzzle from its start.

>>> import antipodes as ap
>>> with ap.open_table("outputs/eight-puzzle.zarr") as table:  # doctest: +SKIP
...     table["8 6 7 / 2 5 4 / 3 0 1"]
31

Public names are imported from their modules on first use, because most modules need numpy, numba, zarr or dask. The
program also imports this package, and shows its help without loading these libraries. `errors` contains all errors.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from antipodes_tasks import errors as errors

if TYPE_CHECKING:  # declares the names for type checkers and editors
    from antipodes.checking import check_puzzle as check_puzzle
    from antipodes.config import Config as Config
    from antipodes.config import PuzzleLike as PuzzleLike
    from antipodes.config import load_config as load_config
    from antipodes.config import load_puzzle as load_puzzle
    from antipodes.graphs.components import Component as Component
    from antipodes.graphs.components import Components as Components
    from antipodes.graphs.components import HardestStarts as HardestStarts
    from antipodes.graphs.components import components as components
    from antipodes.graphs.components import hardest_starts as hardest_starts
    from antipodes.graphs.export import PositionGraph as PositionGraph
    from antipodes.graphs.export import graph as graph
    from antipodes.interface import __version__ as __version__
    from antipodes.interface.results import export as export
    from antipodes.interface.results import open_counts as open_counts
    from antipodes.interface.results import open_table as open_table
    from antipodes.interface.results import open_tilings as open_tilings
    from antipodes.interface.results import report as report
    from antipodes.interface.runs import BoardLike as BoardLike
    from antipodes.interface.runs import Progress as Progress
    from antipodes.interface.runs import SchedulerLike as SchedulerLike
    from antipodes.interface.runs import count_tilings as count_tilings
    from antipodes.interface.runs import run as run
    from antipodes.interface.runs import tile as tile
    from antipodes.interface.runs import verify as verify
    from antipodes.interface.runs import verify_tilings as verify_tilings
    from antipodes.interface.searches import load_patterns as load_patterns
    from antipodes.interface.searches import solve as solve
    from antipodes.interface.searches import solve_many as solve_many
    from antipodes.interface.searches import symmetries as symmetries
    from antipodes.puzzles.custom import Definition as Definition
    from antipodes.puzzles.custom import define_puzzle as define_puzzle
    from antipodes.puzzles.puzzle import PositionLike as PositionLike
    from antipodes.puzzles.puzzle import PositionsLike as PositionsLike
    from antipodes.puzzles.puzzle import Puzzle as Puzzle
    from antipodes.storage.address import Address as Address
    from antipodes.tables.counts import Counts as Counts
    from antipodes.tables.evaluation import Dataset as Dataset
    from antipodes.tables.evaluation import Evaluation as Evaluation
    from antipodes.tables.json_results import RunReport as RunReport
    from antipodes.tables.table import UNKNOWN as UNKNOWN
    from antipodes.tables.table import UNREACHABLE as UNREACHABLE
    from antipodes.tables.table import Table as Table
    from antipodes.tilings.config import BoardConfig as BoardConfig
    from antipodes.tilings.config import load_board as load_board
    from antipodes.tilings.run import TilingReport as TilingReport
    from antipodes.tilings.table import Tilings as Tilings
    from antipodes_tasks.errors import AntipodesError as AntipodesError
    from antipodes_tasks.rules.moves import LegalMoves as LegalMoves
    from antipodes_tasks.rules.moves import Successors as Successors
    from antipodes_tasks.rules.transforms import Transforms as Transforms
    from antipodes_tasks.searches.answer import Answer as Answer
    from antipodes_tasks.searches.pattern_databases import Patterns as Patterns
    from antipodes_tasks.symmetries.finding import Symmetries as Symmetries
    from antipodes_tasks.symmetries.symmetry import Symmetry as Symmetry

_NAMES = {
    "antipodes.checking": "check_puzzle",
    "antipodes.graphs.components": "Component Components HardestStarts components hardest_starts",
    "antipodes.config": "Config PuzzleLike load_config load_puzzle",
    "antipodes.graphs.export": "PositionGraph graph",
    "antipodes.interface": "__version__",
    "antipodes.interface.results": "export open_counts open_table open_tilings report",
    "antipodes.interface.runs": "BoardLike Progress SchedulerLike run tile count_tilings verify verify_tilings",
    "antipodes.interface.searches": "load_patterns solve solve_many symmetries",
    "antipodes.storage.address": "Address",
    "antipodes.tables.counts": "Counts",
    "antipodes.tables.evaluation": "Dataset Evaluation",
    "antipodes.tables.json_results": "RunReport",
    "antipodes.tables.table": "Table UNKNOWN UNREACHABLE",
    "antipodes.tilings.config": "BoardConfig load_board",
    "antipodes.tilings.run": "TilingReport",
    "antipodes.tilings.table": "Tilings",
    "antipodes_tasks.errors": "AntipodesError",
    "antipodes_tasks.rules.moves": "LegalMoves Successors",
    "antipodes_tasks.rules.transforms": "Transforms",
    "antipodes.puzzles.custom": "Definition define_puzzle",
    "antipodes.puzzles.puzzle": "PositionLike PositionsLike Puzzle",
    "antipodes_tasks.searches.answer": "Answer",
    "antipodes_tasks.searches.pattern_databases": "Patterns",
    "antipodes_tasks.symmetries.finding": "Symmetries",
    "antipodes_tasks.symmetries.symmetry": "Symmetry",
}
"""Public names by module."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = [*_HOMES, "errors"]  # noqa: PLE0604  (all are names)


def __getattr__(name: str) -> Any:
    """Return a public name, imported from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'antipodes' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
