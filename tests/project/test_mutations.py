"""The random changes that measure the tests."""

import ast
from pathlib import Path
from shutil import copytree

import pytest
from project import ROOT

from workshop.mutations import __main__ as program
from workshop.mutations.__main__ import with_calls
from workshop.mutations.mutants import SOURCES, choose


@pytest.mark.slow
def test_mutants_are_programs_that_differ_and_are_chosen_again(tmp_path: Path) -> None:
    """In a copy with some of the packages, which are parsed twice."""
    packages = "graphs", "drawing", "bfs", "rules"
    for package in packages:
        (source,) = (source for source in SOURCES if (ROOT / source / package).is_dir())
        copytree(ROOT / source / package, tmp_path / source / package)
    mutants = choose(tmp_path, 40, seed=3)
    assert mutants == choose(tmp_path, 40, seed=3)
    assert {mutant.package for mutant in mutants} == {*packages}
    for number, mutant in enumerate(mutants):
        source = (ROOT / mutant.file).read_bytes()
        changed = mutant.apply(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), mutant
        recording = with_calls(source.decode(), [(mutant.line, number)])
        assert f"executed({number})" in ast.unparse(ast.parse(recording)), mutant


@pytest.mark.parametrize(
    ("status", "output", "found_by"),
    [
        (0, ".\n1 passed in 0.12s", "nothing"),
        (5, "1 deselected in 0.05s", "nothing"),
        (1, "FAILED tests/test_a.py::test\n1 failed in 0.12s", "not slow"),
        (0, ".", "not slow"),
    ],
)
def test_a_change_that_ends_pytest_as_if_all_tests_passed_is_found(
    status: int, output: str, found_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "FOLDER", tmp_path)
    monkeypatch.setattr(program, "_pytest", lambda *_, **__: (status, output))
    assert program._find(["tests/test_a.py::test"], "2")["found_by"] == found_by
