"""Stores as a person names them: by a path, a URL, a puzzle or board, or the file that describes it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from antipodes.runs.default_store import OUTPUTS, chosen_store
from antipodes.storage.address import Address, address_from, in_shell
from antipodes_tasks import arguments
from antipodes_tasks.errors import NotAStoreError, StoreError, StoreMismatchError
from antipodes_tasks.quoting import quote, shorten


@dataclass(frozen=True, slots=True)
class Described:
    """A puzzle or board that is bundled, or that a file describes."""

    name: str
    fingerprint: str
    run: Mapping[str, Any]
    """The ``[run]`` table of the file."""
    command: str
    """The command that makes the store."""


def as_address(store: object, what: str) -> Address:
    """The address of a store that a program names: a path as it is, a text by `find_store`, whose errors it raises."""
    given = arguments.address(store, what)
    return find_store(given) if isinstance(given, str) else given


def find_store(text: str, puzzle: str | None = None) -> Address:
    """The store at a path or a URL; where there is none, the default store of the puzzle or board of this name or file.

    A ``puzzle`` that is given has to be that of the store, and is known from now on.

    Raises
    ------
    NotAStoreError
        The puzzle or board has no store yet; the message names the command that makes it.
    StoreMismatchError
        The store there belongs to another puzzle or board of the same name.
    ConfigError, SourceError
        The file describes no puzzle or board.
    """
    address = _find(text)
    if puzzle is not None:
        _check_given(address, puzzle)
    return address


def _check_given(address: Address, text: str) -> None:
    """Raise StoreMismatchError unless the store is of the puzzle that a person gives for it."""
    from antipodes.config import give
    from antipodes.stores.kinds import read_manifest

    puzzle = give(text).puzzle
    if read_manifest(address).fingerprint != puzzle.fingerprint:
        changed = "; after any change of its file it is another" if puzzle.family == "python" else ""
        raise StoreMismatchError(f"--puzzle: expected the puzzle of {address}, found another, {puzzle.name}{changed}")


def _find(text: str) -> Address:
    address = address_from(text)
    if not isinstance(address, Path) or os.path.isdir(address):
        return address
    described = _described(text)
    name, run = (text, {}) if described is None else (described.name, described.run)
    stores = [chosen_store(None, run, name, counts_only) for counts_only in (False, True)]
    store = next(filter(_is_there, stores), None)
    if described is not None:
        if store is None:
            raise NotAStoreError(f"there is no store of {name} yet; make it with: {described.command}")
        _check_same(store, described)
    if store is None and not _looks_like_path(text):
        raise NotAStoreError(_unknown(text))
    return address if store is None else store


def _looks_like_path(text: str) -> bool:
    """Whether it is no name: what opens the store says what is there instead."""
    return "/" in text or text.endswith(".zarr") or os.path.lexists(text)


def _unknown(text: str) -> str:
    """The message about a name under which there is nothing."""
    from antipodes.config import bundled_configs

    known = {*bundled_configs(), *bundled_configs("boards"), *(path.stem for path in OUTPUTS.glob("*.zarr"))}
    close = get_close_matches(text, sorted(known), n=1)
    meant = f"did you mean {close[0]}?" if close else "antipodes list shows those that there are"
    return f"expected a store, found neither a path nor a store in {OUTPUTS}/ named {quote(shorten(text))}; {meant}"


def _is_there(store: Address) -> bool:
    """Whether something is there; of a URL only its reader can tell."""
    return not isinstance(store, Path) or os.path.exists(store)


def _described(text: str) -> Described | None:
    """The puzzle or board that is bundled under a name, or that a file or Python describes; None if none is."""
    from antipodes.config import DEFINITIONS, bundled_configs
    from antipodes.python_source import is_reference

    if text in bundled_configs():
        return _puzzle(text)
    if text in bundled_configs("boards"):
        return _board(text)
    if os.path.isfile(text) and Path(text).suffix.lower() in (".toml", *DEFINITIONS):
        return _board(text) if _has_board(Path(text)) else _puzzle(text)
    return _puzzle(text) if is_reference(text) else None


def _has_board(path: Path) -> bool:
    from antipodes.text_file import read_toml

    return path.suffix.lower() == ".toml" and "board" in read_toml(path)


def _puzzle(text: str) -> Described:
    from antipodes.config import give, load_config

    config = load_config(text)
    puzzle = give(config).puzzle
    return Described(puzzle.name, puzzle.fingerprint, config.run, f"antipodes run {in_shell(text)}")


def _board(text: str) -> Described:
    from antipodes.tilings.config import load_board

    config = load_board(text)
    problem = config.problem
    return Described(problem.name, problem.fingerprint, config.run, f"antipodes tile {in_shell(text)}")


def _check_same(address: Address, described: Described) -> None:
    """Raise StoreMismatchError if the store is of another puzzle or board."""
    from antipodes.stores.kinds import read_manifest

    try:
        manifest = read_manifest(address)
    except StoreError:  # the command that opens it says what is wrong
        return
    if manifest.fingerprint != described.fingerprint:
        raise StoreMismatchError(
            f"{address} belongs to another puzzle or board of the name {described.name}; "
            f"name it by its path or its own file, or make that of this one with: {described.command} --store STORE"
        )
