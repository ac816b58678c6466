"""The random changes that measure the tests."""

import ast

import pytest
from project import ROOT

from workshop.mutations.__main__ import with_calls
from workshop.mutations.mutants import SOURCES, choose


@pytest.mark.slow
def test_mutants_are_programs_that_differ_and_are_chosen_again() -> None:
    mutants = choose(ROOT, 60, seed=3)
    assert mutants == choose(ROOT, 60, seed=3)
    packages = {path.parent.name for source in SOURCES for path in (ROOT / source).glob("*/__init__.py")}
    assert {mutant.package for mutant in mutants} == packages
    for number, mutant in enumerate(mutants):
        source = (ROOT / mutant.file).read_bytes()
        changed = mutant.apply(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), mutant
        recording = with_calls(source.decode(), [(mutant.line, number)])
        assert f"executed({number})" in ast.unparse(ast.parse(recording)), mutant
