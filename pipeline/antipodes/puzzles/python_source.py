"""Puzzles written in Python, ``path.py:name`` or ``module:name``, and the rules for running their code.

A store names the code of such a puzzle, and whoever sends a store chooses the name, the SHA-256 and the files beside
it. Therefore a store never runs code by itself. Its definition is loaded only if the user gives it to this process, or
if a record in the user's data directory shows that this user has named exactly this definition before: the same
reference, resolved to the same file with the same content. Files inside stores are never loaded. Without a record of
the reference and the SHA-256, the path or module in the store is not even looked up, because on some systems a look-up
mounts another machine's directory.
"""

import ast
import contextlib
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path
from symtable import symtable
from types import ModuleType
from typing import Any

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.families.generators import settings_of
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import PYTHON, STARTS
from antipodes.system.text_file import read_text
from antipodes.system.user_records import UserRecords, hashed
from antipodes_tasks.base.errors import ConfigError, InputError, SourceError
from antipodes_tasks.base.option_names import in_words, option
from antipodes_tasks.base.quoting import quote, shorten, shorten_path
from antipodes_tasks.rules.custom_function import guard

FAMILY = PYTHON
REFERENCE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>\w*))?|(?P<module>[A-Za-z_][\w.]*):(?P<attribute>\w+)", re.DOTALL)
PACKAGES = {"antipodes", "antipodes_tasks"}
"""A file counts as a puzzle definition only if it imports one of these packages."""


def is_reference(text: str) -> bool:
    """Return whether a text refers to a definition in Python, rather than to a config."""
    return REFERENCE.fullmatch(text) is not None


STORE_FILE = "commit.json"
"""Name of a store's manifest, by which its directory is recognised."""
RECORDS = UserRecords("definitions")
"""A record for each definition that the user has named. The name of the record contains all of it, and the content is
for humans. Without a record, later commands ask for ``--puzzle``."""
CAUSES = "something else, such as the order of a set (PYTHONHASHSEED), the environment, the time, or an imported file"
SECOND_SECONDS = 30
"""Maximum number of seconds for a second process to load a definition."""
CHILD = """
import json, sys
sys.path[:], reference = json.loads(sys.argv[1]), sys.argv[2]
from antipodes_tasks.base.errors import AntipodesError
from antipodes.puzzles.python_source import loaded
try:
    answer = {"fingerprint": loaded(reference)[1].fingerprint}
except AntipodesError as error:
    answer = {"error": str(error)}
print(json.dumps(answer))
"""
"""Program of the second process."""


def python_settings(reference: str) -> dict[str, Any]:
    """Return the settings of the puzzle that a user's reference names; a store can keep them.

    If the puzzle consists only of permutations and symbols, or is a bundled puzzle with other starts, the settings
    describe it without code. Otherwise they name the definition, and a record lets the user's later processes load it
    again to open such a store.

    Raises SourceError if the file or the name does not exist, or the code fails; the message names the file and the
    line.
    """
    source, puzzle = loaded(reference)
    if (described := _described(puzzle)) is not None:
        return dict(described)
    RECORDS.write(source.record(source.sha256), f"{source.reference}\n{source.sha256}\n")
    settings = {"name": puzzle.name, "family": FAMILY, "source": source.reference, "sha256": source.sha256}
    _NAMED[source.reference, source.sha256] = replace(puzzle, settings=settings)
    return settings


def loaded(reference: str) -> "tuple[_Source, Puzzle]":
    """Load the definition that a user's reference names, and its puzzle; raise the errors of `python_settings`."""
    source = _located(reference).read()
    return source, source.puzzle()


def loaded_function(reference: str) -> tuple[Callable[..., Any], str]:
    """Return the function that a user's reference names, and the SHA-256 of its file.

    Raises SourceError if the function is missing or its file fails.
    """
    source = _located(reference).read()
    return source.function(), source.sha256


def _described(puzzle: Puzzle) -> Mapping[str, Any] | None:
    """Return settings that describe a puzzle without code, or None if it contains functions."""
    from antipodes.puzzles.custom import CustomNotation

    own = puzzle.settings or {}
    if isinstance(own.get(STARTS), Mapping):  # made by `Puzzle.starting_at`
        again = puzzle_from(own)
        return own if (again.fingerprint, again.notation) == (puzzle.fingerprint, puzzle.notation) else None
    notation = puzzle.notation
    plain = isinstance(notation, CustomNotation) and notation == CustomNotation(puzzle.parts, shape=notation.shape)
    return settings_of(puzzle) if plain else None


_NAMED: dict[tuple[str, str], Puzzle] = {}
"""Puzzles loaded by this process, by reference and SHA-256 of the file."""
_GIVEN: dict[str, Puzzle] = {}
"""Puzzle objects run by or given to this process, by fingerprint."""


def object_settings(puzzle: Puzzle) -> dict[str, Any]:
    """Return settings of a Puzzle object, by which `puzzle_in` finds the object while this process runs."""
    _GIVEN[puzzle.fingerprint] = puzzle
    described = {"name": puzzle.name, "family": FAMILY} if puzzle.settings is None else puzzle.settings
    return {**described, "fingerprint": puzzle.fingerprint}


def puzzle_in(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle described by settings from `python_settings` or `object_settings`, which may come from a store.

    Raises SourceError if the user has not named the definition on this machine; if its file is missing or has changed;
    if its code fails or defines a different puzzle than when the store was made; or if the puzzle has no file and was
    not given to this process.
    """
    fingerprint, reference, expected = (settings.get(key) for key in ("fingerprint", "source", "sha256"))
    if isinstance(fingerprint, str) and fingerprint in _GIVEN:
        return _GIVEN[fingerprint]
    if "source" not in settings and fingerprint is not None:
        remedy = f"write it into a file and name it with {option('puzzle', 'path.py:name')}"
        raise SourceError(
            f"the puzzle of this table, {shorten(str(settings.get('name')))}, was made in Python without a file, so it "
            f"cannot be rebuilt from the store; {in_words('make it again and pass it as puzzle=..., or ', '')}{remedy}"
        )
    if not isinstance(reference, str) or not isinstance(expected, str) or not is_reference(reference):
        raise ConfigError(f"[puzzle] source, sha256: not a reference to a Python file: {quote(reference)}")
    if (reference, expected) not in _NAMED:
        _NAMED[reference, expected] = replace(_recorded(reference, expected).puzzle(), settings=settings)
    puzzle = _NAMED[reference, expected]
    if isinstance(fingerprint, str) and puzzle.fingerprint != fingerprint:
        raise SourceError(
            f"{reference} makes different moves or starts than when the store was made, although the file is the same: "
            f"they depend on {CAUSES}. The store is intact; to read it, make this the same as before; to replace it, "
            f"run the puzzle with {option('overwrite', True)}"
        )
    return puzzle


@contextlib.contextmanager
def second_process(settings: Mapping[str, Any]) -> Iterator[Callable[[], str | None]]:
    """Load a definition in a second process while the block runs; yield a function that waits for the result.

    The function returns None if the second process makes the same puzzle, or the reason why this is unknown. The second
    process starts a moment later with different string hashes, so that sets have a different order; its environment is
    the same. Puzzles that can be rebuilt without code are not tested.

    The function raises SourceError if the definition makes different moves or starts in the second process, or fails.
    """
    reference = settings.get("source")
    if not isinstance(reference, str):
        yield lambda: None
        return
    hashes = {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    try:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, json.dumps(sys.path), reference],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **hashes},
        )
    except OSError as error:
        reason = f"it cannot be started: {error.strerror}"
        yield lambda: reason
        return
    with child:
        try:
            yield lambda: _compared(child, reference, puzzle_in(settings).fingerprint)
        finally:
            child.kill()


def _compared(child: "subprocess.Popen[bytes]", reference: str, expected: str) -> str | None:
    """Return why the second process's result is unknown, or None; raise SourceError if the result differs."""
    try:
        output, _ = child.communicate(timeout=SECOND_SECONDS)
        found = json.loads(output)
    except subprocess.TimeoutExpired:
        return f"it takes more than {SECOND_SECONDS} seconds to load"
    except ValueError:
        return f"the other process ended with status {child.returncode}"
    if "error" in found:
        raise SourceError(f"the definition fails in a second process, so later commands would fail: {found['error']}")
    if found["fingerprint"] != expected:
        raise SourceError(
            f"{reference} makes different moves or starts in a second process, so no later command could read the "
            f"table; its moves or starts depend on {CAUSES}"
        )
    return None


def _recorded(reference: str, expected: str) -> "_Source":
    """Read the definition that a store names, without running it; raise SourceError unless the user has named it."""
    match = REFERENCE.fullmatch(reference)
    if match is not None and match["file"] and os.path.abspath(match["file"]) != match["file"]:
        raise SourceError(_refusal(reference, "by a relative path"))
    if not RECORDS.has_prefix(_record_prefix(reference, expected)):
        raise SourceError(_refusal(reference, "which you have not run or checked here"))
    try:
        place = _located(reference)
    except SourceError as error:
        raise SourceError(
            f"the puzzle of this table is written in Python: {error}. Restore it, or {_give()}"
        ) from error
    if not _is_recorded(place, expected):
        raise SourceError(_refusal(reference, "which you have not run or checked here"))
    try:
        source = place.read()
    except SourceError as error:
        raise SourceError(f"the puzzle of this table is written in Python: {error}") from error
    if source.sha256 != expected:
        raise SourceError(
            f"the puzzle of this table is written in {place.path}, which has changed since (SHA-256 "
            f"{shorten(source.sha256, 12)} instead of {shorten(expected, 12)}); restore the file, or run the puzzle "
            f"with {option('overwrite', True)}"
        )
    return source


def _give() -> str:
    """Return the remedy, for messages about code that a store names and this process does not run."""
    return f"give the definition with {option('puzzle', 'path.py:name')}"


def _refusal(reference: str, why: str) -> str:
    code = shorten_path(reference, 100)
    return f"the store names Python code, {code!r}, {why}; it was not run. If you trust it, {_give()}"


@dataclass(frozen=True)
class _Place:
    """The location of a puzzle's definition; the file has not been read yet."""

    path: Path
    """Absolute path of the file."""
    module: str
    """Name of the module if the file is found by module name, or "" for a path."""
    name: str
    """Name of the definition in the file."""

    @property
    def reference(self) -> str:
        """The reference that a store keeps; paths are absolute."""
        return f"{self.module or self.path}:{self.name}"

    def record(self, sha256: str) -> str:
        """Return the file name of the record for this reference, content and file."""
        return f"{_record_prefix(self.reference, sha256)}{hashed(os.path.realpath(self.path))}"

    def read(self) -> "_Source":
        """Return the file with its current content; raise SourceError if it cannot be read."""
        try:
            return _Source(self.path, self.module, self.name, read_text(self.path, "a Python file"))
        except ConfigError as error:
            raise SourceError(f"{self.path}: {error}") from None


@dataclass(frozen=True)
class _Source(_Place):
    """A file with a puzzle's definition. It is read once, so the text that is compared is the text that is run."""

    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def puzzle(self) -> Puzzle:
        """Run the file, unless this process has already run it, and return the puzzle."""
        from antipodes.puzzles.custom import puzzle_of

        self._check()
        with self._guard():
            definition = getattr(self._run(), self.name)
            try:
                puzzle = puzzle_of(definition, self.name)
            except InputError as error:
                raise SourceError(f"{self.path}: {error}") from error
        return replace(puzzle, rules=replace(puzzle.rules, moves=puzzle.moves.signed(self.sha256)))

    def function(self) -> Callable[..., Any]:
        """Run the file, unless this process has already run it, and return the function with the name."""
        self._check_name()
        with self._guard():
            found = getattr(self._run(), self.name)
        if not callable(found):
            raise SourceError(f"{self.path}: {self.name} is not a function")
        return found  # type: ignore[no-any-return]

    def _check(self) -> None:
        """Raise SourceError unless the file imports this project's packages and defines the name."""
        with self._guard():
            tree = ast.parse(self.text, str(self.path))
        if PACKAGES.isdisjoint(_imported_packages(tree)):
            raise SourceError(f"{self.path} does not import antipodes, so it is not a puzzle definition")
        self._check_name()

    def _check_name(self) -> None:
        """Raise SourceError unless the file defines the name."""
        with self._guard():
            names = symtable(self.text, str(self.path), "exec").get_symbols()
        if self.name not in (one.get_name() for one in names if one.is_assigned() or one.is_imported()):
            found = ", ".join(one.get_name() for one in names if one.is_assigned()) or "no names"
            raise SourceError(f"{self.path} does not define {quote(self.name)}; it defines {found}")

    def _guard(self) -> contextlib.AbstractContextManager[None]:
        """Return a context manager that turns errors of the user's code into SourceErrors."""
        return guard(str(self.path), str(self.path), SourceError, SourceError)

    def _run(self) -> ModuleType:
        """Run the text and return its module; the module's functions are pickled by value for other processes."""
        import cloudpickle

        stem = re.sub(r"\W", "_", self.module or self.path.stem)
        name = f"antipodes_own_{stem}_{self.record(self.sha256)[:16]}"
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = str(self.path)
        sys.modules[name] = module  # dataclasses look up their module there
        try:
            self._enter_package(module)
            exec(compile(self.text, str(self.path), "exec", dont_inherit=True), module.__dict__)
        except BaseException:
            for known in [key for key, one in sys.modules.items() if one is module]:
                del sys.modules[known]
            raise
        cloudpickle.register_pickle_by_value(module)
        return module

    def _enter_package(self, module: ModuleType) -> None:
        """Let a module that was found by name import other modules of its package, and modules beside the package."""
        if not self.module:
            return
        is_package = self.path.name == "__init__.py"
        module.__package__ = self.module if is_package else self.module.rpartition(".")[0]
        folder = self.path.parents[self.module.count(".") + is_package]
        if is_package:
            module.__path__ = [str(self.path.parent)]
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        if parent := self.module.rpartition(".")[0]:
            importlib.import_module(parent)
        sys.modules.setdefault(self.module, module)  # otherwise an import of the module would read the file again


def _located(reference: str) -> _Place:
    """Return the location of a reference; raise SourceError if a module is missing, or the file is inside a store."""
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise SourceError(f"expected path.py:name or module:name, found {quote(reference)}")
    module = match["module"] or ""
    path = Path(os.path.abspath(_module_path(module) if module else match["file"]))
    for folder in {*path.parents, *Path(os.path.realpath(path)).parents}:
        if os.path.lexists(folder / STORE_FILE):
            raise SourceError(f"{path} is inside the store {folder}; Python files inside stores are never loaded")
    return _Place(path, module, match["attribute"] or match["name"] or "")


def _record_prefix(reference: str, sha256: str) -> str:
    """Return how the file names of all records of a reference and an SHA-256 begin, whichever file was meant."""
    return f"{hashed(reference, sha256)}-"


def _is_recorded(place: _Place, sha256: str) -> bool:
    """Return whether there is a record that the user has named this definition with this SHA-256."""
    return RECORDS.has(place.record(sha256))


def _module_path(module: str) -> Path:
    """Return the file of a module. Unlike `importlib.util.find_spec`, this does not import parent packages."""
    search: Sequence[str] | None = [*sys.path, str(Path.cwd())]
    origin = None
    for depth in range(module.count(".") + 1):
        spec = PathFinder.find_spec(".".join(module.split(".")[: depth + 1]), search)
        search, origin = (spec.submodule_search_locations, spec.origin) if spec else (None, None)
        if spec is None or (search is None and depth < module.count(".")):
            raise SourceError(f"Python cannot find the module {quote(module)} from here")
    if origin is None or not origin.endswith(".py"):
        raise SourceError(f"the module {quote(module)} is not a Python file")
    return Path(origin)


def _imported_packages(tree: ast.Module) -> set[str]:
    """Return the top-level names of all packages that a file imports."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return {name.partition(".")[0] for name in names}
