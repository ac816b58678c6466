"""The man page and the completions in the wheel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from antipodes.cli.main import COMMANDS
from workshop.manual.__main__ import COMPLETIONS, FOLDER, PAGE, page
from workshop.manual.reference import page_with, sections

BASH = """
source {script}
COMP_WORDS=(antipodes {begun}) COMP_CWORD=1
_antipodes_completion antipodes
echo "${{COMPREPLY[@]}}"
"""


def test_the_page_is_that_of_the_commands() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "run make manual"
    assert all(f"\n.SS antipodes {name} " in written for names in COMMANDS.values() for name in names)


def test_the_reference_of_the_questions_is_that_of_their_declarations() -> None:
    for path, section in sections().items():
        assert page_with(path, section) == path.read_text(encoding="utf-8"), f"run make manual ({path.name})"


def test_no_text_is_taken_for_a_macro() -> None:
    macros = {".TH", ".SH", ".SS", ".TP", ".B", ".I"}
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith((".", "'"))]
    assert {line.split()[0] for line in lines} == macros


@pytest.mark.slow
def test_bash_completes_commands() -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = BASH.format(script=FOLDER / COMPLETIONS["bash"], begun="pu")
    done = subprocess.run(
        ["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["puzzles"]


def test_every_shell_asks_the_program() -> None:
    for shell, name in COMPLETIONS.items():
        assert f"_ANTIPODES_COMPLETE=complete_{shell}" in (FOLDER / name).read_text(encoding="utf-8")
