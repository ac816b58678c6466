"""Rows of "To change X, touch Y" in docs/architecture.md: a copy of the package is changed as a row says, and used."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from documents import DOCS
from project import ROOT

pytestmark = pytest.mark.slow
ARCHITECTURE = (DOCS / "architecture.md").read_text(encoding="utf-8")
Edit = tuple[str, str]
"""A line of a file, and the lines that replace it."""
MARK = "---- the next change"


@dataclass(frozen=True, eq=False)
class Change:
    """A change as a row says, and a Python program that uses it."""

    goal: str
    new: Mapping[str, str]
    """New files, by their paths below `antipodes`."""
    edits: Mapping[str, Sequence[Edit]]
    program: str


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Change], str]:
    """What the program of a change prints, in one process with all changes."""
    package = tmp_path_factory.mktemp("package")
    for top in ("pipeline", "tasks", "configs"):
        shutil.copytree(ROOT / top, package / top, ignore=shutil.ignore_patterns("__pycache__"))
    for change in CHANGES:
        apply(package, change)
    program = "\n".join(f"print({MARK!r}); exec({change.program!r}, {{}})" for change in CHANGES)
    path = os.pathsep.join(str(package / top) for top in ("pipeline", "tasks"))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=package,
        env={**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outputs = done.stdout.split(f"{MARK}\n")[1:]
    return lambda change: outputs[CHANGES.index(change)]


def apply(package: Path, change: Change) -> None:
    """Add files and edit others; the row of a goal has to name every file, by its path below `antipodes`."""
    goal = change.goal
    (row,) = [line for line in ARCHITECTURE.splitlines() if line.startswith(f"| {goal} |")]
    named = row.split("|")[2]
    for path, text in change.new.items():
        assert f"`{Path(path).parent}`" in named, f"{goal}: {path}"
        (_source(package, path)).write_text(text, encoding="utf-8")
    for path, changed in change.edits.items():
        assert f"`{path}`" in named or "its use" in named or path.endswith("__init__.py"), f"{goal}: {path}"
        file = _source(package, path)
        text = file.read_text(encoding="utf-8")
        for old, replacement in changed:
            assert text.count(old) == 1, f"{path}: {old}"
            text = text.replace(old, replacement)
        file.write_text(text, encoding="utf-8")


def _source(package: Path, path: str) -> Path:
    """The file with a path below one of the two packages."""
    tops = [package / "pipeline" / "antipodes", package / "tasks" / "antipodes_tasks"]
    (top,) = [one for one in tops if (one / path).parent.is_dir()]
    return top / path


GAPS = '''
"""Gaps of pancakes: neighbours in the stack that are not neighbours in the goal (M. Helmert, 2010)."""

import numpy as np

from antipodes_tasks.properties.lower_bounds import LowerBound


class Gaps(LowerBound):
    """The number of gaps between pancakes, and between the last pancake and the plate."""

    def __init__(self, rules, goals):
        (self.goal,) = goals

    def bounds(self, labels):
        order = np.argsort(self.goal)[labels]
        plate = np.full((len(labels), 1), labels.shape[1])
        return (np.abs(np.diff(np.hstack((order, plate)), axis=1)) > 1).sum(axis=1)
'''


ROW = '    "breaks": Named(Gaps, lambda rules: True, "pancakes", lambda rules: False),\n'
HEURISTIC = Change(
    "add a heuristic",
    {"properties/breaks.py": GAPS},
    {
        "properties/heuristics.py": [
            ("NAMED = {\n", f"from antipodes_tasks.properties.breaks import Gaps\n\nNAMED = {{\n{ROW}")
        ]
    },
    program="""
import antipodes as ap
puzzle = ap.Config({"name": "six", "family": "pancake", "n": 6})
ap.run(puzzle, "six.zarr")
with ap.open_table("six.zarr") as table:
    print(table.evaluate("breaks").admissible)
    for position in ("2 1 4 3 6 5", "4 6 2 5 1 3", "1 3 5 2 4 6"):
        found = [ap.solve(puzzle, position, every=True, **by) for by in ({"heuristic": "breaks"}, {"method": "iddfs"})]
        print(found[0].distance == table[position], found[0].solution_count == found[1].solution_count)
        print(found[0].expanded < found[1].expanded)
from antipodes.cli.main import run_command
run_command(["solve", "--help"])
""",
)


def test_add_a_heuristic(printed: Callable[[Change], str]) -> None:
    compared, shown = printed(HEURISTIC).split("Usage", 1)
    assert compared.split() == ["True"] * 10
    assert "beam: breaks," in shown


ROTOR = '''
"""Rotors: pieces in a row, of which a move exchanges two neighbours."""

from antipodes.puzzles.families.permutations import row_puzzle, row_starts, symbols_of
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.settings import refuse_unknown
from antipodes_tasks.rules.transforms import Transforms


def rotors(settings):
    """Return the puzzle of ``n`` pieces in a row."""
    refuse_unknown(settings, {"n", "start"})
    starts = row_starts(settings, 1)
    size = len(starts[0])
    moves = {}
    for place in range(size - 1):
        origins = list(range(size))
        origins[place], origins[place + 1] = origins[place + 1], origins[place]
        moves[f"x{place + 1}"] = origins
    return row_puzzle(settings, starts, Transforms.permuting(moves, len(symbols_of(starts))), Lists((size,)))
'''


FAMILY = Change(
    "add a family of puzzles",
    {"puzzles/families/rotors.py": ROTOR},
    {
        "puzzles/families/__init__.py": [
            (
                '    "sliding": ("sliding", "sliding"),\n',
                '    "rotors": ("rotors", "rotors"),\n    "sliding": ("sliding", "sliding"),\n',
            )
        ]
    },
    program="""
import antipodes as ap
report = ap.run(ap.Config({"name": "five", "family": "rotors", "n": 5}), "five.zarr")
print(*report.layers)
with ap.open_table("five.zarr") as table:
    print(table["5 4 3 2 1"], len(table.path("5 4 3 2 1")) - 1)
""",
)


def test_add_a_family_of_puzzles(printed: Callable[[Change], str]) -> None:
    assert printed(FAMILY).split("\n")[:2] == [
        "1 4 9 15 20 22 20 15 9 4 1",
        "10 10",
    ]  # inversions of permutations


LOGGED_BITS = '''
"""Bits that log the layers which they find."""

from dataclasses import dataclass
from functools import partial

from antipodes.tables.strategies.bit_strategy import BitStrategy
from antipodes_tasks.bfs.partition import State


class LoggedState(State):
    def advance(self, depth, sources, tables, log):
        found = super().advance(depth, sources, tables, log)
        with open("found.txt", "a") as file:
            print(depth, found, file=file)
        return found


@dataclass(frozen=True)
class LoggedBits(BitStrategy):
    def needs(self, division, commitment, workers):
        needs = super().needs(division, commitment, workers)
        return needs._replace(together=needs.together + 1)

    def make_state(self, division, weights):
        return partial(LoggedState, width=division.space.width, chunk_rows=division.chunk_rows)
'''


STRATEGY = Change(
    "hold the positions of a search in another way",
    {"tables/strategies/logged_bits.py": LOGGED_BITS},
    {
        "tables/planning/plan.py": [
            (
                "STRATEGIES: tuple[Strategy, ...] = (",
                "from antipodes.tables.strategies.logged_bits import LoggedBits\n"
                "STRATEGIES: tuple[Strategy, ...] = (LoggedBits(), ",
            )
        ]
    },
    program="""
from collections import Counter
from pathlib import Path
import antipodes as ap
from antipodes.tables.planning.plan import plan_run

config = ap.Config({"name": "five", "family": "pancake", "n": 5})
needed = plan_run(config.puzzle).min_bytes
log = Path("found.txt")
for name, limit in (("table", needed), ("counts", needed), ("other", needed - 1)):
    log.unlink(missing_ok=True)
    report = ap.run(config, name + ".zarr", workers=1, memory_limit=limit, counts_only=name == "counts")
    found = Counter()
    for line in log.read_text().splitlines() if log.exists() else ():
        depth, count = map(int, line.split())
        found[depth] += count
    print(*report.layers, "found", *[count for depth, count in sorted(found.items()) if count])
""",
)


def test_hold_the_positions_of_a_search_in_another_way(printed: Callable[[Change], str]) -> None:
    """The first row of the list whose memory fits is used, for a table and for counts."""
    layers = "1 4 12 35 48 20"
    logged = f"{layers} found 4 12 35 48 20"
    assert printed(STRATEGY).splitlines() == [logged, logged, f"{layers} found"]


VALUES = '''
"""Positions whose places have independent values, and moves that add constants to them."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from antipodes_tasks.move_tables import Filler, MoveTables, index_type
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.space import Numbering


@dataclass(frozen=True)
class Values(Numbering):
    KIND: ClassVar[str] = "values"
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, rules):
        return cls(tuple(len(part.symbols) for part in rules.parts for _ in range(part.places)))

    @classmethod
    def restored(cls, rules, record):
        return cls.of(rules)

    @property
    def radices(self):
        return self.sizes

    @property
    def place_values(self):
        return np.cumprod([1, *self.radices[:0:-1]])[::-1]

    def rank(self, labels):
        return labels.astype(np.int64) @ self.place_values

    def unrank(self, indices):
        return (indices[:, np.newaxis] // self.place_values % self.radices).astype(np.uint8)

    def filler(self, rules, leading):
        return AddedConstants(rules, self, leading)


@dataclass(frozen=True)
class AddedConstants(Filler):
    rules: Rules
    numbering: Values
    leading: int

    @property
    def rows(self):
        return int(np.prod(self.numbering.radices[: self.leading]))

    @property
    def width(self):
        return self.numbering.size // self.rows

    @property
    def max_moves(self):
        return len(self.rules.moves)

    @property
    def most_column_maps(self):
        return 1 + len(self.rules.moves)

    def building_bytes(self, threads):
        return 1 << 20

    def begin(self):
        maps = np.tile(np.arange(self.width, dtype=np.int32), (self.most_column_maps, 1))
        numbers = np.arange(1, self.most_column_maps, dtype=index_type(self.most_column_maps))
        target = np.empty((self.rows, self.max_moves), dtype=np.int32)
        tables = MoveTables(target, np.tile(numbers, (self.rows, 1)), maps, undirected=True)
        return tables, [partial(self._fill, tables, move) for move in range(self.max_moves)]

    def _fill(self, tables, move):
        rows, columns = np.arange(self.rows) * self.width, np.arange(self.width)
        tables.target[:, move] = self._after(move, rows) // self.width
        tables.column_maps[1 + move] = self._after(move, columns) % self.width

    def _after(self, move, indices):
        return self.numbering.rank(self.rules.moves.move(move, self.numbering.unrank(indices))[0])
'''


NUMBERING = Change(
    "number positions in another way",
    {"spaces/values.py": VALUES},
    {
        "spaces/selection.py": [
            ('    "group": "group.Group",\n', '    "group": "group.Group",\n    "values": "values.Values",\n'),
            (
                '    if rules.moves.transforms is None:\n        return _kind("fields")\n',
                '    if rules.moves.transforms is None:\n        return _kind("fields")\n'
                "    if not any(part.holds_pieces for part in rules.parts):\n"
                '        return _kind("values")\n',
            ),
        ]
    },
    program="""
import antipodes as ap
report = ap.run(ap.Config({"name": "lights", "family": "lights-out", "rows": 3, "columns": 3}), "lights.zarr")
print(report.manifest.space, *report.layers)
with ap.open_table("lights.zarr") as table:
    (farthest,) = table.antipodes()
    print(table[farthest], len(table.path(farthest)) - 1)
print(ap.verify("lights.zarr").ok)
""",
)


def test_number_positions_in_another_way(printed: Callable[[Change], str]) -> None:
    # each of the nine lights is pressed or not, and different sets of presses have different results
    assert printed(NUMBERING).split("\n")[:3] == [
        "values 1 9 36 84 126 126 84 36 9 1",
        "9 9",
        "True",
    ]


FIELD = Change(
    "add a field to the manifest of a store",
    {},
    {
        "tables/store/manifest.py": [
            (
                "    metadata: Mapping[str, str] = field(metadata=",
                '    note: str = field(default="none", kw_only=True, metadata=stored_as(TEXT))\n'
                "    metadata: Mapping[str, str] = field(metadata=",
            )
        ]
    },
    program="""
from dataclasses import replace
import antipodes as ap
from antipodes.storage.manifest_fields import read_fields, write_fields
from antipodes_tasks.base.errors import FieldError
config = ap.Config({"name": "four", "family": "pancake", "n": 4})
for counts_only in (False, True):
    report = ap.run(config, "four.zarr", counts_only=counts_only, overwrite=True)
    print(report.manifest.note, "note" in write_fields(report.manifest))
    noted = replace(report.manifest, note="by hand")
    print(read_fields(type(noted), write_fields(noted)) == noted, write_fields(noted)["note"])
    try:
        read_fields(type(noted), {**write_fields(noted), "note": 1})
    except FieldError as error:
        print(error)
""",
)


def test_add_a_field_to_the_manifest_of_a_store(printed: Callable[[Change], str]) -> None:
    lines = ["none False", "True by hand", "note: expected a string, found 1"]
    assert printed(FIELD).splitlines() == 2 * lines


OPTION = Change(
    "add a run option",
    {},
    {
        "system/options.py": [
            (
                "\n    overwrite: bool = option(",
                """
    greeting: str | None = option(
        None, arguments.text, TEXT, "TEXT", "Print TEXT when the run begins.", RESOURCES, ("run", "resume")
    )
    overwrite: bool = option(""",
            ),
            (
                '    symmetry: Literal["auto", "on", "off"] | None\n    overwrite: bool | None\n',
                '    symmetry: Literal["auto", "on", "off"] | None\n'
                "    overwrite: bool | None\n    greeting: str | None\n",
            ),
        ],
        "tables/run.py": [
            (
                "    register_puzzle(config)\n",
                "    register_puzzle(config)\n    options.greeting and print('began:', options.greeting)\n",
            )
        ],
    },
    program="""
import contextlib, inspect, io
from pathlib import Path
import antipodes as ap
from antipodes.cli.main import run_command
from antipodes.system.options import RunOptions

settings = '[puzzle]\\nname = "greeted"\\nfamily = "pancake"\\nn = 4\\n[run]\\n'
for name, line in (("plain", ""), ("greeting", 'greeting = "from the file"'), ("odd", "greeting = 5")):
    Path(name + ".toml").write_text(settings + line)


def said(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        run_command(list(words))
    return out.getvalue()


shown = said("run", "--help")
print(shown.index("--omit") < shown.index("--greeting TEXT") < shown.index("--overwrite"))
for command in (
    ("run", "plain.toml", "--store", "a.zarr", "--greeting", "from the shell"),
    ("resume", "a.zarr", "--greeting", "again"),
    ("run", "greeting.toml", "--store", "b.zarr"),
    ("run", "greeting.toml", "--store", "b.zarr", "--greeting", "first"),
    ("run", "odd.toml"),
):
    print(said(*command, "--quiet").splitlines()[0].rpartition("[run] ")[2])
ap.run("plain.toml", "c.zarr", greeting="from Python")
ap.run("greeting.toml", "d.zarr")
print(*("greeting" in inspect.signature(one).parameters for one in (ap.run, ap.tile)))
print("--greeting" in said("tile", "--help"))
print(RunOptions(greeting="hello you", started_by=("run", "plain.toml")).resume_command("s3://b/t.zarr"))
try:
    ap.tile("3x20", "e.zarr", greeting="hello")
except TypeError as error:
    print(error)
""",
)


def test_add_a_run_option(printed: Callable[[Change], str]) -> None:
    """Commands, files and Python take it, and the command that resumes a run repeats it."""
    (row,) = [line for line in ARCHITECTURE.splitlines() if line.startswith("| add a run option |")]
    assert {"`cli`", "`interface`", "`puzzles/config.py`"} <= {*row.split("|")[3].replace(",", "").split()}
    assert printed(OPTION).splitlines() == [
        "True",
        *(f"began: {text}" for text in ("from the shell", "again", "from the file", "first")),
        "greeting: expected a string, found 5",
        *(f"began: {text}" for text in ("from Python", "from the file")),
        "True False",
        "False",
        "antipodes resume s3://b/t.zarr --greeting 'hello you'",
        "tile() got an unexpected keyword argument 'greeting'",
    ]


CHANGES = [
    HEURISTIC,
    FAMILY,
    STRATEGY,
    NUMBERING,
    FIELD,
    OPTION,
]
