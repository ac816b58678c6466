"""Puzzles written in Python: ``path.py:name`` or ``module:name``, loaded for the user, and again for a store.

To open a store of such a puzzle is to run code that the store names. So the file is run only if it is byte for byte
the one that made the store, and imports `antipodes.puzzles`: a store from elsewhere runs no code that is not on this
machine already, and none that is not a definition of a puzzle.
"""

import ast
import contextlib
import hashlib
import importlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path
from symtable import symtable
from types import ModuleType
from typing import Any

from antipodes.errors import ConfigError, InputError, SourceError
from antipodes.puzzles.puzzle import Puzzle
from antipodes.quoting import quote, shorten
from antipodes.text_file import read_text

FAMILY = "python"
REFERENCE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>\w*))?|(?P<module>[A-Za-z_][\w.]*):(?P<attribute>\w+)", re.DOTALL)
PACKAGE, API = "antipodes", "antipodes.api"
"""The package from which a file must import something to be taken for a definition of a puzzle."""


def is_reference(text: str) -> bool:
    """Whether a text names a definition in Python, rather than a config."""
    return REFERENCE.fullmatch(text) is not None


def python_settings(reference: str) -> dict[str, Any]:
    """The settings of the puzzle with a reference, to be kept in a store.

    Raises
    ------
    SourceError
        There is no such file or name, or the code in it fails; the message names the file and the line.
    """
    source = _located(reference)
    puzzle = source.puzzle()
    return {"name": puzzle.name, "family": FAMILY, "source": source.reference, "sha256": source.sha256}


_OBJECTS: dict[str, Puzzle] = {}
"""The Puzzle objects without a file that this process has run or was given, by their fingerprints."""


def object_settings(puzzle: Puzzle) -> dict[str, Any]:
    """The settings of a Puzzle without a file: while this process runs, `puzzle_in` finds it by them."""
    _OBJECTS[puzzle.fingerprint] = puzzle
    return {"name": puzzle.name, "family": FAMILY, "fingerprint": puzzle.fingerprint}


def _object_in(settings: Mapping[str, Any]) -> Puzzle:
    fingerprint = str(settings["fingerprint"])
    if fingerprint not in _OBJECTS:
        raise SourceError(
            f"the puzzle of this table, {shorten(str(settings.get('name')))}, was made in Python, without a file to "
            "rebuild it from: make it again, and give it to open_table(store, puzzle=...); a definition in a file, run "
            "as path.py:name, needs no help"
        )
    return _OBJECTS[fingerprint]


def puzzle_in(settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle of settings that `python_settings` or `object_settings` returned, here or for a store.

    Raises
    ------
    SourceError
        The file is missing or has changed since, or its code fails; or the puzzle has no file, and is not known here.
    """
    if "fingerprint" in settings:
        return _object_in(settings)
    reference, expected = settings.get("source"), settings.get("sha256")
    if not isinstance(reference, str) or not isinstance(expected, str) or not is_reference(reference):
        raise ConfigError(f"[puzzle] source, sha256: expected a Python file, found {quote(reference)}")
    try:
        source = _located(reference)
    except SourceError as error:
        raise SourceError(f"the puzzle of this table is written in Python: {error}") from error
    if source.sha256 != expected:
        raise SourceError(
            f"the puzzle of this table is written in {source.path}, which has changed since: expected the file with "
            f"SHA-256 {shorten(expected, 12)}, found {shorten(source.sha256, 12)}: restore it, or run the puzzle with "
            "--overwrite"
        )
    return replace(source.puzzle(), settings=settings)


@dataclass(frozen=True)
class _Source:
    """A file with the definition of a puzzle, read but not run."""

    path: Path
    text: str
    module: str
    """The name of the module, if it is to be imported; "" for a file."""
    name: str
    """The name of the definition in the file."""

    @property
    def reference(self) -> str:
        """The reference that a store keeps: paths are absolute."""
        return f"{self.module or self.path}:{self.name}"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def puzzle(self) -> Puzzle:
        """Run the file, unless this process has, and make the puzzle."""
        from antipodes.puzzles.own import puzzle_of

        self._check()
        with self._guard():
            definition = getattr(self._imported() if self.module else self._run(), self.name)
            try:
                puzzle = puzzle_of(definition, self.name)
            except InputError as error:
                raise SourceError(f"{self.path}: {error}") from error
        from antipodes.puzzles.moves.functions import Functions

        if isinstance(puzzle.moves, Functions):
            return replace(puzzle, moves=puzzle.moves.signed(self.sha256))
        return puzzle

    def _check(self) -> None:
        """Raise SourceError unless the file is a definition of puzzles, and has the name."""
        with self._guard():
            tree = ast.parse(self.text, str(self.path))
            names = symtable(self.text, str(self.path), "exec").get_symbols()
        if PACKAGE not in _imported_packages(tree):
            raise SourceError(f"{self.path}: expected a file that imports from {API}, found none of that")
        if self.name not in (one.get_name() for one in names if one.is_assigned() or one.is_imported()):
            found = ", ".join(one.get_name() for one in names if one.is_assigned()) or "none"
            raise SourceError(f"{self.path}: expected the name of a puzzle, found {quote(self.name)}; defined: {found}")

    def _guard(self) -> contextlib.AbstractContextManager[None]:
        """The guard of the user's code, whose errors become SourceErrors."""
        from antipodes.puzzles.own_function import guard

        return guard(str(self.path), str(self.path), SourceError, SourceError)

    def _run(self) -> ModuleType:
        """The module of a file. Other processes get its functions by value."""
        stem = re.sub(r"\W", "_", self.path.stem)
        name = f"antipodes_own_{stem}_{self.sha256[:16]}"
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = str(self.path)
        sys.modules[name] = module  # dataclasses look for their module there
        try:
            exec(compile(self.text, str(self.path), "exec", dont_inherit=True), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
        return _by_value(module)

    def _imported(self) -> ModuleType:
        if self.module not in sys.modules and str(Path.cwd()) not in sys.path:
            sys.path.append(str(Path.cwd()))
        return _by_value(importlib.import_module(self.module))


def _by_value(module: ModuleType) -> ModuleType:
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)
    return module


def _located(reference: str) -> _Source:
    """The file of a reference; SourceError if there is none."""
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise SourceError(f"expected path.py:name or module:name, found {quote(reference)}")
    module = match["module"] or ""
    path = _module_path(module) if module else Path(os.path.abspath(match["file"]))
    try:
        text = read_text(path, "a Python file")
    except ConfigError as error:
        raise SourceError(f"{path}: {error}") from None
    return _Source(path, text, module, match["attribute"] or match["name"] or "")


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
