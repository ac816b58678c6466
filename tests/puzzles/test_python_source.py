"""Puzzles written in Python: found, loaded, kept in settings, and loaded again only from the same file."""

import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import forget_puzzles

from antipodes.puzzles import python_source
from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.python_source import is_reference, python_settings, second_process
from antipodes_tasks.base.errors import ConfigError, SourceError

DIAL = """
from antipodes import define_puzzle

SIZE = 5
print("a line of the user's")

def turn(dials):
    return (dials + 1) % SIZE

def dial():
    return define_puzzle(name="dial", radices=[SIZE], start=[0], moves={"turn": turn})

puzzle = dial()

class Dial:
    '''As a class.'''
    radices = [SIZE]
    start = [0]
    moves = {"turn": turn}
"""


@pytest.fixture
def dial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file with definitions in the current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    path = tmp_path / "dials_of_mine.py"
    path.write_text(DIAL)
    yield path
    sys.modules.pop(path.stem, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.py:b", True),
        ("/some/where/a.py:b", True),
        ("a.py", True),
        ("package.module:name", True),
        ("eight-puzzle", False),
        ("a.toml", False),
        ("three-colours:x", False),
        ("a:b:c", False),
        (":x", False),
        ("", False),
    ],
)
def test_references(text: str, expected: bool) -> None:
    assert is_reference(text) is expected


@pytest.mark.parametrize(
    ("imported", "define"),
    [
        ("from antipodes import define_puzzle", "define_puzzle"),
        ("import antipodes", "antipodes.define_puzzle"),
        ("import antipodes as api", "api.define_puzzle"),
        ("from antipodes.puzzles.custom import define_puzzle as define", "define"),
    ],
)
def test_forms_of_an_import(tmp_path: Path, imported: str, define: str) -> None:
    path = tmp_path / "dials.py"
    made = f"{define}(name='dial', radices=[5], start=[0], moves={{'turn': lambda dials: (dials + 1) % 5}})"
    path.write_text(f"{imported}\nif True:\n    dial, other = {made}, 1\n")
    assert load_config(f"{path}:dial").puzzle.name == "dial"


@pytest.mark.parametrize(
    ("form", "name"),
    [("dials_of_mine.py:{}", "dial"), ("dials_of_mine:{}", "puzzle"), ("./dials_of_mine.py:{}", "Dial")],
)
def test_forms_of_a_reference(dial: Path, form: str, name: str) -> None:
    config = load_config(form.format(name))
    assert config.puzzle.successors([4]).tolist() == [[0]]
    assert config.settings["family"] == "python"
    assert Config(config.settings).puzzle.fingerprint == config.puzzle.fingerprint


def test_settings_name_the_file_wherever_one_is(dial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = python_settings("dials_of_mine.py:dial")
    assert settings["name"] == "dial"
    assert settings["source"] == f"{dial}:dial"
    monkeypatch.chdir("/")
    assert Config(settings).puzzle.name == "dial"


def test_a_module_in_a_package(dial: Path) -> None:
    package = dial.parent / "package_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    dial.rename(package / "module.py")
    assert load_config("package_of_mine.module:dial").puzzle.name == "dial"


def test_what_the_file_prints_is_no_output(dial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load_config("dials_of_mine.py:dial")
    assert capsys.readouterr().out == ""


def test_a_file_that_has_changed_is_not_run(dial: Path) -> None:
    settings = python_settings(f"{dial}:dial")
    dial.write_text(DIAL + "\nraise SystemExit('was run')\n")
    forget_puzzles()
    with pytest.raises(SourceError, match=r"dials_of_mine.py, which has changed since \(SHA-256"):
        Config(settings).puzzle  # noqa: B018  (loads it)
    dial.write_text(DIAL)
    assert Config(settings).puzzle.name == "dial"


def test_a_file_that_is_missing_is_named(dial: Path) -> None:
    settings = python_settings(f"{dial}:dial")
    dial.unlink()
    forget_puzzles()
    with pytest.raises(
        SourceError, match=r"written in Python: .*dials_of_mine.py: cannot be read as a Python file: No such"
    ):
        Config(settings).puzzle  # noqa: B018  (loads it)


def test_another_version_has_another_fingerprint(dial: Path) -> None:
    first = load_config(f"{dial}:dial").puzzle.fingerprint
    dial.write_text(DIAL + "\n# a remark\n")
    assert load_config(f"{dial}:dial").puzzle.fingerprint != first


def test_settings_run_no_other_file(dial: Path) -> None:
    """Even if it is on this machine, and the settings have its digest."""
    settings = python_settings(f"{dial}:dial")
    other = dial.with_name("other.py")
    other.write_text("raise SystemExit('was run')\n")
    import hashlib

    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    with pytest.raises(SourceError, match=r"other.py:dial', which you have not run or checked here; it was not run"):
        Config({**settings, "source": f"{other}:dial", "sha256": digest}).puzzle  # noqa: B018  (would load it)


@pytest.mark.parametrize("wrong", [{"source": None}, {"source": "eight-puzzle"}, {"sha256": None}, {"source": ["x"]}])
def test_settings_without_a_source_are_refused(dial: Path, wrong: dict[str, Any]) -> None:
    settings = {**python_settings(f"{dial}:dial"), **wrong}
    with pytest.raises(ConfigError, match=r"source, sha256: not a reference to a Python file"):
        Config(settings).puzzle  # noqa: B018  (loads it)


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("x = 1 / 0", r"dials_of_mine.py: ZeroDivisionError \(dials_of_mine.py, line 22\): division by zero"),
        ("def x(:", r"dials_of_mine.py: SyntaxError \(dials_of_mine.py, line 22\)"),
        ("import no_such_module; x = 1", r"dials_of_mine.py: ModuleNotFoundError .*line 22\): No module named"),
        ("raise SystemExit(3); x = 1", r"dials_of_mine.py: SystemExit .*line 22\): 3"),
        ("x = 3", r"dials_of_mine.py: x: expected a Puzzle, or a function or class that defines one, found int 3"),
        ("def x(): return [][1]", r"dials_of_mine.py: x: IndexError \(dials_of_mine.py, line 22\): list index"),
        ("", r"dials_of_mine.py does not define 'x'; it defines SIZE, turn, dial, puzzle, Dial"),
    ],
)
def test_errors_of_the_file_are_one_line(dial: Path, added: str, message: str) -> None:
    dial.write_text(DIAL + "\n\n" + added)
    with pytest.raises(SourceError, match=message) as caught:
        load_config("dials_of_mine.py:x")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("nothing.py:dial", r"nothing.py: cannot be read as a Python file: No such file"),
        ("nothing.py", r"nothing.py: cannot be read as a Python file: No such file"),
        ("dials_of_mine.py", r"does not define ''; it defines SIZE, turn, dial"),
        ("no_such_module:dial", r"Python cannot find the module 'no_such"),
        ("json.no_such:dial", r"cannot find the module 'json.no_such'"),
        ("dials_of_mine.inner:dial", r"cannot find the module 'dials_of_mine.inner'"),
        ("math:pi", r"the module 'math' is not a Python file"),
        ("json:loads", r"does not import antipodes"),
    ],
)
def test_references_without_a_definition(dial: Path, reference: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        load_config(reference)


def test_a_module_is_found_without_importing_packages(dial: Path) -> None:
    package = dial.parent / "loud"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('was run')")
    (package / "module.py").write_text("x = 1")
    with pytest.raises(SourceError, match=r"does not import antipodes"):
        load_config("loud.module:x")


@pytest.mark.slow
def test_other_processes_need_no_file(dial: Path, tmp_path: Path) -> None:
    """Functions of a file, with what they need of it, go to a process that cannot import it."""
    puzzle = load_config(f"{dial}:dial").puzzle
    (tmp_path / "pickled").write_bytes(pickle.dumps(puzzle))
    dial.unlink()
    program = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).successors([4]).tolist())"
    command = [sys.executable, "-c", program, str(tmp_path / "pickled")]
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout == "[[0]]\n"


def test_a_puzzle_of_permutations_is_loaded_likewise(dial: Path) -> None:
    definition = 'ring = define_puzzle(name="ring", start="ABC", moves={"L": [1, 2, 0]})'
    dial.write_text(f"{DIAL}\n{definition}\n")
    puzzle = load_config(f"{dial}:ring").puzzle
    assert np.array_equal(puzzle.successors([0, 1, 2]), [[1, 2, 0]])


def test_a_store_of_other_moves_is_not_called_damaged(dial: Path) -> None:
    settings = load_config(f"{dial}:dial").settings
    with pytest.raises(SourceError, match=r"different moves or starts than when the store was made.*store is intact"):
        Config({**settings, "fingerprint": "0" * 64}).puzzle  # noqa: B018  (loads it)


def second_result(settings: Mapping[str, Any]) -> str | None:
    """The result of a process that is not a fork, as other tests start it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_source, "subprocess", subprocess)
        with second_process(settings) as wait:
            return wait()


@pytest.mark.slow
def test_a_second_process_makes_the_same_puzzle(dial: Path) -> None:
    assert second_result(load_config("dials_of_mine:dial").settings) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SIZE += os.environ.get('PYTHONHASHSEED') == '1'", "dial makes different moves or starts in a second process"),
        (
            "assert 'pytest' in sys.modules",
            r"fails in a second process, .*: .* AssertionError \(dials_of_mine.py, line 4\)",
        ),
    ],
)
def test_a_second_process_that_differs(dial: Path, line: str, message: str) -> None:
    dial.write_text(DIAL.replace("SIZE = 5", f"import os, sys; SIZE = 5; {line}"))
    with pytest.raises(SourceError, match=message):
        second_result(load_config(f"{dial}:dial").settings)


@pytest.mark.parametrize(
    ("program", "message"),
    [("/no/such/program", "it cannot be started: No such file"), ("/bin/false", "ended with status 1")],
)
def test_without_a_second_process_nothing_is_known(
    dial: Path, monkeypatch: pytest.MonkeyPatch, program: str, message: str
) -> None:
    settings = load_config(f"{dial}:dial").settings
    monkeypatch.setattr(sys, "executable", program)
    assert message in str(second_result(settings))
