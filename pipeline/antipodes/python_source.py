"""Puzzles written in Python: ``path.py:name`` or ``module:name``, loaded for the user, and again for a store.

A store names the code of such a puzzle, and the sender of a store chooses the name, the SHA-256 and the files beside
it. So a store alone runs no code. Its definition is loaded only if it is given to this process, or if a record in the
user's data directory says that this user has named exactly this definition before: the same reference, leading to the
same file with the same bytes. Files inside stores are never loaded. Without a record of the reference and the SHA-256,
the path or module in the store is not even looked up: on some systems a look-up mounts another machine's directory.
"""

import ast
import contextlib
import hashlib
import importlib
import json
import os
import re
import stat
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
from antipodes.text_file import read_text
from antipodes_tasks.errors import ConfigError, InputError, SourceError
from antipodes_tasks.option_names import option
from antipodes_tasks.quoting import quote, shorten, shorten_path
from antipodes_tasks.rules.custom_function import guard
from antipodes_tasks.rules.functions import Functions

FAMILY = PYTHON
REFERENCE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>\w*))?|(?P<module>[A-Za-z_][\w.]*):(?P<attribute>\w+)", re.DOTALL)
PACKAGES = {"antipodes", "antipodes_tasks"}
"""A file is taken for a definition of a puzzle only if it imports one of these."""


def is_reference(text: str) -> bool:
    """Whether a text names a definition in Python, rather than a config."""
    return REFERENCE.fullmatch(text) is not None


STORE_FILE = "commit.json"
"""The manifest of a store, by which its directory is recognised."""
MAX_RECORDS = 1000
"""Definitions that the user's data directory names; the oldest makes room."""
CAUSES = "something else, such as the order of a set (PYTHONHASHSEED), the environment, the time, or an imported file"
SECOND_SECONDS = 30
"""Seconds that a second process may take to load a definition."""
CHILD = """
import json, sys
sys.path[:], reference = json.loads(sys.argv[1]), sys.argv[2]
from antipodes_tasks.errors import AntipodesError
from antipodes.python_source import loaded
try:
    answer = {"fingerprint": loaded(reference)[1].fingerprint}
except AntipodesError as error:
    answer = {"error": str(error)}
print(json.dumps(answer))
"""
"""The program of that process."""


def python_settings(reference: str) -> dict[str, Any]:
    """The settings of the puzzle with a reference that a person names, to be kept in a store.

    If it has only permutations and symbols, or is a bundled puzzle with other starts, the settings describe it without
    code. Otherwise this process and later ones of this user load the definition again for stores that name it.

    SourceError where there is no such file or name, or the code in it fails; the message names the file and the line.
    """
    source, puzzle = loaded(reference)
    if (described := _described(puzzle)) is not None:
        return dict(described)
    _record(source)
    settings = {"name": puzzle.name, "family": FAMILY, "source": source.reference, "sha256": source.sha256}
    _NAMED[source.reference, source.sha256] = replace(puzzle, settings=settings)
    return settings


def loaded(reference: str) -> "tuple[_Source, Puzzle]":
    """The definition with a reference that a person names, and its puzzle; raises as `python_settings`."""
    source = _located(reference).read()
    return source, source.puzzle()


def _described(puzzle: Puzzle) -> Mapping[str, Any] | None:
    """Settings that describe a puzzle without code; None if functions are a part of it."""
    from antipodes.puzzles.custom import CustomNotation

    own = puzzle.settings or {}
    if isinstance(own.get(STARTS), Mapping):  # made by `Puzzle.starting_at`
        again = puzzle_from(own)
        return own if (again.fingerprint, again.notation) == (puzzle.fingerprint, puzzle.notation) else None
    notation = puzzle.notation
    plain = isinstance(notation, CustomNotation) and notation == CustomNotation(puzzle.parts, shape=notation.shape)
    return settings_of(puzzle) if plain else None


_NAMED: dict[tuple[str, str], Puzzle] = {}
"""The puzzles that were loaded by this process, by the reference and the SHA-256 of the file."""
_GIVEN: dict[str, Puzzle] = {}
"""The Puzzle objects that this process has run or was given, by their fingerprints."""


def object_settings(puzzle: Puzzle) -> dict[str, Any]:
    """The settings of a Puzzle made in Python: while this process runs, `puzzle_in` finds it by them."""
    _GIVEN[puzzle.fingerprint] = puzzle
    described = {"name": puzzle.name, "family": FAMILY} if puzzle.settings is None else puzzle.settings
    return {**described, "fingerprint": puzzle.fingerprint}


def puzzle_in(settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle of settings that `python_settings` or `object_settings` returned, here or for a store.

    SourceError where the user has not named the definition here; its file is missing or has changed since, or its code
    fails; or it makes another puzzle than it made for the store; or the puzzle has no file, and is not known here.
    """
    fingerprint, reference, expected = (settings.get(key) for key in ("fingerprint", "source", "sha256"))
    if isinstance(fingerprint, str) and fingerprint in _GIVEN:
        return _GIVEN[fingerprint]
    if "source" not in settings and fingerprint is not None:
        raise SourceError(
            f"the puzzle of this table, {shorten(str(settings.get('name')))}, was made in Python, without a file to "
            "rebuild it from: make it again, and give it to open_table(store, puzzle=...); a definition in a file, run "
            "as path.py:name, needs no help"
        )
    if not isinstance(reference, str) or not isinstance(expected, str) or not is_reference(reference):
        raise ConfigError(f"[puzzle] source, sha256: expected a Python file, found {quote(reference)}")
    if (reference, expected) not in _NAMED:
        _NAMED[reference, expected] = replace(_recorded(reference, expected).puzzle(), settings=settings)
    puzzle = _NAMED[reference, expected]
    if isinstance(fingerprint, str) and puzzle.fingerprint != fingerprint:
        raise SourceError(
            f"{reference} makes other moves or starts than when the store was made, though the file is the same: they "
            f"depend on {CAUSES}; the store is not damaged: restore that, or run the puzzle with "
            f"{option('overwrite', True)}"
        )
    return puzzle


@contextlib.contextmanager
def second_process(settings: Mapping[str, Any]) -> Iterator[Callable[[], str | None]]:
    """Load a definition in another process as well, beside the block, which gets a function that waits for the result.

    That returns why the result cannot be known, else None. The other process has other hashes of texts, so that the
    order of sets differs, and begins a moment later; its environment is the same. Puzzles that need no code to be built
    again are not tried.

    That function raises SourceError where the definition makes other moves or starts there, or fails there.
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
    """Why another process cannot say what it makes of a definition; SourceError if that differs."""
    try:
        said, _ = child.communicate(timeout=SECOND_SECONDS)
        found = json.loads(said)
    except subprocess.TimeoutExpired:
        return f"it takes more than {SECOND_SECONDS} seconds to load"
    except ValueError:
        return f"the other process ended with status {child.returncode}"
    if "error" in found:
        raise SourceError(f"loaded in a second process, which every later command is, it fails: {found['error']}")
    if found["fingerprint"] != expected:
        raise SourceError(
            f"{reference} makes other moves or starts in a second process, so no later command could read the table: "
            f"they depend on {CAUSES}"
        )
    return None


def _recorded(reference: str, expected: str) -> "_Source":
    """The definition that a store names, read but not run; SourceError unless this user has named it before."""
    match = REFERENCE.fullmatch(reference)
    if match is not None and match["file"] and os.path.abspath(match["file"]) != match["file"]:
        raise SourceError(_refusal(reference, "by a relative path"))
    if not _has_record(reference, expected):
        raise SourceError(_refusal(reference, "which you have not run or checked here"))
    try:
        place = _located(reference)
    except SourceError as error:
        raise SourceError(f"the puzzle of this table is written in Python: {error}; or {_give()}") from error
    if not _is_recorded(place, expected):
        raise SourceError(_refusal(reference, "which you have not run or checked here"))
    try:
        source = place.read()
    except SourceError as error:
        raise SourceError(f"the puzzle of this table is written in Python: {error}") from error
    if source.sha256 != expected:
        raise SourceError(
            f"the puzzle of this table is written in {place.path}, which has changed since: expected the file with "
            f"SHA-256 {shorten(expected, 12)}, found {shorten(source.sha256, 12)}: restore it, or run the puzzle "
            f"with {option('overwrite', True)}"
        )
    return source


def _give() -> str:
    """Return the remedy for code that a store names, and this process does not run."""
    return f"give the definition: {option('puzzle', 'path.py:name')}"


def _refusal(reference: str, why: str) -> str:
    return f"the store names Python code, {shorten_path(reference, 100)!r}, {why}; it is not run: {_give()}"


@dataclass(frozen=True)
class _Place:
    """Where the definition of a puzzle is: nothing of the file is read yet."""

    path: Path
    """Absolute."""
    module: str
    """The name of the module, if the file is found by it; "" for a path."""
    name: str
    """The name of the definition in the file."""

    @property
    def reference(self) -> str:
        """The reference that a store keeps: paths are absolute."""
        return f"{self.module or self.path}:{self.name}"

    def record(self, sha256: str) -> str:
        """The name of the record that the user has named this definition: of this reference, content and file."""
        return f"{_record_prefix(self.reference, sha256)}{_hashed(os.path.realpath(self.path))}"

    def read(self) -> "_Source":
        """The file as it is now; SourceError if it cannot be read."""
        try:
            return _Source(self.path, self.module, self.name, read_text(self.path, "a Python file"))
        except ConfigError as error:
            raise SourceError(f"{self.path}: {error}") from None


@dataclass(frozen=True)
class _Source(_Place):
    """A file with the definition of a puzzle, read once: this text is compared, and this text is run."""

    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def puzzle(self) -> Puzzle:
        """Run the file, unless this process has, and make the puzzle."""
        from antipodes.puzzles.custom import puzzle_of

        self._check()
        with self._guard():
            definition = getattr(self._run(), self.name)
            try:
                puzzle = puzzle_of(definition, self.name)
            except InputError as error:
                raise SourceError(f"{self.path}: {error}") from error
        if isinstance(puzzle.moves, Functions):
            return replace(puzzle, rules=replace(puzzle.rules, moves=puzzle.moves.signed(self.sha256)))
        return puzzle

    def _check(self) -> None:
        """Raise SourceError unless the file is a definition of puzzles, and has the name."""
        with self._guard():
            tree = ast.parse(self.text, str(self.path))
            names = symtable(self.text, str(self.path), "exec").get_symbols()
        if PACKAGES.isdisjoint(_imported_packages(tree)):
            raise SourceError(f"{self.path}: expected a file that imports from antipodes, found none of that")
        if self.name not in (one.get_name() for one in names if one.is_assigned() or one.is_imported()):
            found = ", ".join(one.get_name() for one in names if one.is_assigned()) or "none"
            raise SourceError(f"{self.path}: expected the name of a puzzle, found {quote(self.name)}; defined: {found}")

    def _guard(self) -> contextlib.AbstractContextManager[None]:
        """The guard of the user's code, whose errors become SourceErrors."""
        return guard(str(self.path), str(self.path), SourceError, SourceError)

    def _run(self) -> ModuleType:
        """The module of the text. Other processes get its functions by value."""
        import cloudpickle

        stem = re.sub(r"\W", "_", self.module or self.path.stem)
        name = f"antipodes_own_{stem}_{self.record(self.sha256)[:16]}"
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = str(self.path)
        sys.modules[name] = module  # dataclasses look for their module there
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
        """Let a module that was found by its name import others from its package, and from the folder of that."""
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
        sys.modules.setdefault(self.module, module)  # or an import of it by others would read the file again


def _located(reference: str) -> _Place:
    """Where the file of a reference is; SourceError if a module is not found, or the file is a part of a store."""
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise SourceError(f"expected path.py:name or module:name, found {quote(reference)}")
    module = match["module"] or ""
    path = Path(os.path.abspath(_module_path(module) if module else match["file"]))
    for folder in {*path.parents, *Path(os.path.realpath(path)).parents}:
        if os.path.lexists(folder / STORE_FILE):
            raise SourceError(f"{path}: expected a Python file outside of stores, found one in the store {folder}")
    return _Place(path, module, match["attribute"] or match["name"] or "")


def _records() -> Path | None:
    """The folder with a file for each definition that this user has named; None where users have no folders."""
    import platformdirs

    folder = platformdirs.user_data_path("antipodes", appauthor=False) / "definitions"
    return folder if folder.is_absolute() else None


def _record_prefix(reference: str, sha256: str) -> str:
    """The beginning of the names of the records of a reference and a content, whatever file the reference leads to."""
    return f"{_hashed(json.dumps([reference, sha256]))}-"


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _has_record(reference: str, sha256: str) -> bool:
    """Whether this user has named a reference before, when its file had this SHA-256; no other path is looked at."""
    folder, prefix = _records(), _record_prefix(reference, sha256)
    try:
        return folder is not None and any(name.startswith(prefix) for name in os.listdir(folder))
    except OSError:
        return False


def _record(place: _Source) -> None:
    """Record that the user has named a definition; a folder that cannot be written is none.

    The name of the file says it all: no other process can read half of it. Its content is for persons.
    """
    if (folder := _records()) is None:
        return
    with contextlib.suppress(OSError):  # then later commands ask for --puzzle
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / place.record(place.sha256)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(file, flags, mode=0o600), "wb") as opened:
            opened.write(f"{place.reference}\n{place.sha256}\n".encode("utf-8", "surrogateescape"))
        by_age = sorted(os.scandir(folder), key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
        for entry in by_age[:-MAX_RECORDS]:
            os.unlink(entry)


def _is_recorded(place: _Place, sha256: str) -> bool:
    """Whether this user has named the definition before, when the file had this SHA-256."""
    folder = _records()
    try:
        status = None if folder is None else os.lstat(folder / place.record(sha256))
    except OSError:
        return False
    return status is not None and stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def _module_path(module: str) -> Path:
    """The file of a module. Unlike `importlib.util.find_spec` this imports no package on the way."""
    search: Sequence[str] | None = [*sys.path, str(Path.cwd())]
    origin = None
    for depth in range(module.count(".") + 1):
        spec = PathFinder.find_spec(".".join(module.split(".")[: depth + 1]), search)
        search, origin = (spec.submodule_search_locations, spec.origin) if spec else (None, None)
        if spec is None or (search is None and depth < module.count(".")):
            raise SourceError(f"expected a module that Python finds from here, found none of the name {quote(module)}")
    if origin is None or not origin.endswith(".py"):
        raise SourceError(f"expected a module that is a Python file, found {quote(module)}")
    return Path(origin)


def _imported_packages(tree: ast.Module) -> set[str]:
    """The first parts of the names of all modules that a file imports."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return {name.partition(".")[0] for name in names}
