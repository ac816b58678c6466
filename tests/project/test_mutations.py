"""The random changes that measure the tests."""

import ast
from pathlib import Path
from shutil import copytree

import pytest
from project import ROOT

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
