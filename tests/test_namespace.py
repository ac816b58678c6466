"""One namespace package in two portions, and who may import whom."""

import ast
from pathlib import Path

import pytest
from project import ROOT

import antipodes

PIPELINE, TASKS = ROOT / "pipeline" / "antipodes", ROOT / "tasks" / "antipodes"
FOREIGN_TO_TASKS = {"dask", "distributed", "zarr", "typer", "rich", "matplotlib"}


def modules_of(portion: Path) -> set[str]:
    """The names under ``antipodes`` that a portion provides."""
    return {path.stem for path in portion.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}


def imports_of(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(str(node.module))
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_both_portions_are_one_package() -> None:
    assert not (PIPELINE / "__init__.py").exists()
    assert not (TASKS / "__init__.py").exists()
    assert {str(PIPELINE), str(TASKS)} <= set(antipodes.__path__)


def test_no_module_is_in_both() -> None:
    assert not modules_of(PIPELINE) & modules_of(TASKS)


@pytest.mark.parametrize("path", sorted(TASKS.rglob("*.py")), ids=lambda path: str(path.relative_to(TASKS)))
def test_tasks_know_nothing_of_the_pipeline(path: Path) -> None:
    names = imports_of(path)
    assert not {name for name in names if name.split(".")[0] in FOREIGN_TO_TASKS}
    inner = {name.split(".")[1] for name in names if name.startswith("antipodes.")}
    assert not inner & modules_of(PIPELINE)


@pytest.mark.parametrize("path", sorted(TASKS.rglob("*.py")), ids=lambda path: str(path.relative_to(TASKS)))
def test_tasks_print_nothing(path: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("print", "open")]


def test_zarr_is_known_to_what_stores() -> None:
    knowing = {
        path.stem for path in PIPELINE.rglob("*.py") if any(name.split(".")[0] == "zarr" for name in imports_of(path))
    }
    assert knowing == {"store", "layout", "directory", "chunks", "zarr_settings"}
