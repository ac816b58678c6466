"""The two top packages, and which of their packages may import which."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from project import ROOT

import antipodes

pytestmark = pytest.mark.slow
PIPELINE, TASKS = ROOT / "pipeline" / "antipodes", ROOT / "tasks" / "antipodes_tasks"
FOREIGN_TO_TASKS = {"dask", "distributed", "zarr", "typer", "rich", "matplotlib", "PIL"}
ARCHITECTURE = ROOT / "docs" / "architecture.md"
LEVEL_ROW = re.compile(r"^\| (?P<level>[0-9]+) \|(?P<packages>[^|]*)\|(?P<tasks>[^|]*)\|$", re.MULTILINE)
"""A row of the table of levels in `ARCHITECTURE`, with the packages of the pipeline and of the tasks."""


def levels() -> dict[str, int]:
    """The level of each package: a package imports only packages of lower levels."""
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rows = [(int(row["level"]), f"{row['packages']} {row['tasks']}") for row in LEVEL_ROW.finditer(text)]
    return {package: level for level, packages in rows for package in re.findall(r"`(\w+)`", packages)}


LEVEL_OF = levels()


def modules_of(package: Path) -> dict[str, Path]:
    """The files of a package by their module names in it; a package in it is its ``__init__``."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    del found[""]
    return found


MODULES = modules_of(PIPELINE) | modules_of(TASKS)


def package_of(module: str) -> str:
    return module.partition(".")[0]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path, typed: bool = False) -> frozenset[str]:
    """The modules that a file imports, anywhere in it; imports for type checkers alone only if ``typed``."""
    return frozenset(imported(parsed(path), path, typed))


def imported(tree: ast.AST, path: Path, typed: bool) -> Iterator[str]:
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if not typed and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        nodes += ast.iter_child_nodes(node)


def plainly_imported(path: Path) -> set[str]:
    """The names in ``import name``, anywhere in a file."""
    return {alias.name for node in ast.walk(parsed(path)) if isinstance(node, ast.Import) for alias in node.names}


def own_imports_of(module: str, typed: bool = False) -> set[str]:
    """The modules of the project that a module imports; those for type checkers alone only if ``typed``."""
    split = (name.partition(".") for name in imports_of(MODULES[module], typed))
    names = {name for package, _, name in split if package in ("antipodes", "antipodes_tasks")}
    return (names & MODULES.keys()) - {module}


def test_no_module_imports_the_public_names() -> None:
    """The public names come from all packages, so an import of them could be an import of a higher level."""
    public = {"antipodes.*", *(f"antipodes.{name}" for name in antipodes.__all__)}
    public -= {f"antipodes.{module}" for module in MODULES}
    for module, path in MODULES.items():
        assert not public & imports_of(path), module
        assert "antipodes" not in plainly_imported(path), module


def test_tasks_import_nothing_of_the_pipeline() -> None:
    tops = {name.partition(".")[0] for path in TASKS.rglob("*.py") for name in imports_of(path)}
    assert "antipodes_tasks" in tops
    assert "antipodes" not in tops


def test_public_names_load_when_they_are_used() -> None:
    program = "import sys, antipodes; assert 'numpy' not in sys.modules; antipodes.run; assert 'numpy' in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert all(hasattr(antipodes, name) for name in antipodes.__all__)
    with pytest.raises(AttributeError, match="No antipodes attribute runn"):
        _ = antipodes.runn


def test_no_package_name_is_used_twice() -> None:
    assert not {package_of(module) for module in modules_of(PIPELINE)} & {
        package_of(module) for module in modules_of(TASKS)
    }


def test_every_package_has_a_level() -> None:
    assert {package_of(module) for module in MODULES} == LEVEL_OF.keys()


def test_every_module_states_its_purpose() -> None:
    assert [str(path) for path in MODULES.values() if ast.get_docstring(parsed(path)) is None] == []


def test_imports_go_down() -> None:
    upward = [
        f"{module} imports {name}"
        for module in MODULES
        for name in own_imports_of(module)
        if package_of(name) != package_of(module) and LEVEL_OF[package_of(name)] >= LEVEL_OF[package_of(module)]
    ]
    assert upward == []


def test_no_import_cycles() -> None:
    """Imports for type checkers count, too."""
    imports = {module: own_imports_of(module, typed=True) for module in MODULES}
    TopologicalSorter(imports).prepare()  # raises CycleError


def test_no_cycles_of_folders() -> None:
    """The folders of a package, such as `tables.layers` and `tables.search`, import each other in one direction."""
    folders: dict[str, set[str]] = {}
    for module in MODULES:
        for name in own_imports_of(module):
            importer, folder = (".".join(one.split(".")[:2]) for one in (module, name))
            if importer != folder and min(module.count("."), name.count(".")) > 1:
                folders.setdefault(importer, set()).add(folder)
    TopologicalSorter(folders).prepare()


def test_tasks_know_no_files_no_dask_and_no_terminal() -> None:
    for path in sorted(TASKS.rglob("*.py")):
        assert not {name for name in imports_of(path) if name.split(".")[0] in FOREIGN_TO_TASKS}, path
        calls = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("print", "open")], (
            path
        )


@pytest.mark.parametrize(("library", "package"), [("zarr", "storage"), ("distributed", "executors"), ("typer", "cli")])
def test_only_one_package_imports_a_library(library: str, package: str) -> None:
    knowing = [module for module, path in MODULES.items() if library in {n.split(".")[0] for n in imports_of(path)}]
    assert {package_of(module) for module in knowing} == {package}


def test_the_module_of_errors_can_be_imported() -> None:
    code = "import antipodes.errors; from antipodes.errors import InputError; print(antipodes.errors.AntipodesError)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "AntipodesError" in done.stdout
