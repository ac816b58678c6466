"""Two packages, and which room may import which."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from project import ROOT

import antipodes

PIPELINE, TASKS = ROOT / "pipeline" / "antipodes", ROOT / "tasks" / "antipodes_tasks"
FOREIGN_TO_TASKS = {"dask", "distributed", "zarr", "typer", "rich", "matplotlib", "PIL"}
LEVELS = (
    ("__main__",),
    ("program",),
    ("interface", "cli"),
    ("report_page", "service"),
    ("progress", "stores"),
    ("checking", "graphs", "tables", "tilings"),
    ("config",),
    ("runs",),
    ("display",),
    ("executors", "pictures", "storage"),
    ("events", "machine", "waits"),
    ("python_source",),
    ("text_file",),
    ("regular_file",),
    ("puzzles",),
    ("searches", "bfs", "exact_cover"),
    ("spaces",),
    ("symmetries",),
    ("reachability",),
    ("keys",),
    ("rules",),
    ("permutations",),
    ("jit",),
    ("arguments", "values"),
    ("option_names",),
    ("errors",),
    ("quoting",),
)
"""The rooms from the top down: each imports from the levels below its own, never from its own or from above."""
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def modules_of(package: Path) -> dict[str, Path]:
    """The files of a package by their module names in it; a package in it is its ``__init__``."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    del found[""]
    return found


MODULES = modules_of(PIPELINE) | modules_of(TASKS)


def room_of(module: str) -> str:
    return module.partition(".")[0]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The modules that a file imports, anywhere in it, except imports for type checkers alone."""
    return frozenset(imported(parsed(path), path))


def imported(node: ast.AST, path: Path) -> Iterator[str]:
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{path}: relative import"
        yield str(node.module)
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imported(child, path)


def plainly_imported(path: Path) -> set[str]:
    """The names in ``import name``, anywhere in a file."""
    return {alias.name for node in ast.walk(parsed(path)) if isinstance(node, ast.Import) for alias in node.names}


def own_imports_of(module: str) -> set[str]:
    """The modules of the project that a module imports."""
    split = (name.partition(".") for name in imports_of(MODULES[module]))
    names = {name for package, _, name in split if package in ("antipodes", "antipodes_tasks")}
    return (names & MODULES.keys()) - {module}


def test_no_room_imports_the_public_names() -> None:
    """They are of all rooms: whoever imports them may import what is above."""
    public = {"antipodes", "antipodes.*", *(f"antipodes.{name}" for name in antipodes.__all__)}
    rooms = {f"antipodes.{module}" for module in MODULES}
    importing = {
        module
        for module, path in MODULES.items()
        for name in public - rooms - {"antipodes"}
        if name in imports_of(path)
    } | {module for module, path in MODULES.items() if "antipodes" in plainly_imported(path)}
    assert importing == set()


def test_tasks_import_nothing_of_the_pipeline() -> None:
    tops = {name.partition(".")[0] for path in TASKS.rglob("*.py") for name in imports_of(path)}
    assert "antipodes_tasks" in tops
    assert "antipodes" not in tops


def test_public_names_load_when_they_are_used() -> None:
    program = "import sys, antipodes; assert 'numpy' not in sys.modules; antipodes.run; assert 'numpy' in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert all(hasattr(antipodes, name) for name in antipodes.__all__)
    with pytest.raises(AttributeError, match="'antipodes' has no attribute 'runn'"):
        _ = antipodes.runn


def test_type_checkers_see_the_public_names() -> None:
    tree = parsed(PIPELINE / "__init__.py")
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {(alias.name, node.module) for node in imports for alias in node.names}
    assert seen == set(antipodes._HOMES.items())


def test_no_room_is_in_both() -> None:
    assert not {room_of(module) for module in modules_of(PIPELINE)} & {room_of(module) for module in modules_of(TASKS)}


def test_every_room_has_a_level() -> None:
    assert {room_of(module) for module in MODULES} == LEVEL_OF.keys()


def test_rooms_say_what_they_are_for() -> None:
    assert [str(path) for path in MODULES.values() if ast.get_docstring(parsed(path)) is None] == []


def test_imports_go_down() -> None:
    upward = [
        f"{module} imports {name}"
        for module in MODULES
        for name in own_imports_of(module)
        if room_of(name) != room_of(module) and LEVEL_OF[room_of(name)] <= LEVEL_OF[room_of(module)]
    ]
    assert upward == []


def test_no_circles() -> None:
    TopologicalSorter({module: own_imports_of(module) for module in MODULES}).prepare()  # raises CycleError


def test_tasks_know_no_files_no_dask_and_no_terminal() -> None:
    for path in sorted(TASKS.rglob("*.py")):
        assert not {name for name in imports_of(path) if name.split(".")[0] in FOREIGN_TO_TASKS}, path
        calls = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("print", "open")], (
            path
        )


@pytest.mark.parametrize(("library", "room"), [("zarr", "storage"), ("distributed", "executors"), ("typer", "cli")])
def test_a_library_is_known_to_one_room(library: str, room: str) -> None:
    knowing = [module for module, path in MODULES.items() if library in {n.split(".")[0] for n in imports_of(path)}]
    assert {room_of(module) for module in knowing} == {room}
