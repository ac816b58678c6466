"""The definition of a puzzle or board as TOML, and the sections on how its store was computed and how to check it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from antipodes.drawing.markup import definitions, element
from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.puzzles.python_source import FAMILY
from antipodes.report_page.page import Section, code, commands, format_time
from antipodes.storage.backend import MANIFEST
from antipodes.storage.store import Store
from antipodes.system.addresses import in_shell
from antipodes.system.machine import human
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tilings.board_config import load_board
from antipodes.tilings.store import TilingManifest

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
LINE_CHARACTERS = 100
"""Approximate maximum length of a list on one line, in characters."""


def as_toml(table: str, settings: Mapping[str, Any]) -> str:
    """Return the settings as a TOML table of this name, which `tomllib` can read."""
    return "".join([f"[{table}]\n", *(f"{_key(key)} = {_value(value)}\n" for key, value in settings.items())])


def published(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for publication: without the folders of a Python file."""
    source = settings.get("source")
    if settings.get("family") != FAMILY or not isinstance(source, str):
        return dict(settings)
    return {**settings, "source": source.rpartition("/")[2]}


def recompute(manifest: SearchManifest | TilingManifest, file: str | None = None) -> list[str]:
    """Return a comment and a command that recomputes a store; ``file`` is the definition, by default NAME.toml."""
    if isinstance(manifest, TilingManifest):
        name = str(manifest.board["name"])
        same = name in bundled_configs("boards") and dict(load_board(name).settings) == dict(manifest.board)
        return _commands_for_known_puzzle("tile", name if same else None, file or f"{name}.toml")
    name, settings = str(manifest.puzzle["name"]), dict(manifest.puzzle)
    counts_only = " --counts-only" if manifest.COUNTS_ONLY else ""
    if settings.get("family") != FAMILY:
        same = name in bundled_configs() and dict(load_config(name).settings) == settings
        return _commands_for_known_puzzle("run", name if same else None, file or f"{name}.toml", counts_only)
    if source := published(settings).get("source"):
        return _commands_for_known_puzzle("run", source, "", counts_only)
    return ["# recomputes the store, in the program that defines the puzzle", "antipodes.run(puzzle)"]


def _commands_for_known_puzzle(command: str, known: str | None, file: str, options: str = "") -> list[str]:
    """Return the lines for a ``known`` name or reference, which works everywhere, or else for the definition file."""
    if known is not None:
        return ["# recomputes the store", f"antipodes {command} {in_shell(known)}{options}"]
    about = "# recomputes the store from the definition, saved under this name"
    return [about, f"antipodes {command} {in_shell(file)}{options}"]


def origin(store: Store[Any], table: str, settings: Mapping[str, Any], facts: Mapping[str, str], about: str) -> Section:
    """Return the section on how a store was computed, with the definition of its puzzle or board.

    ``table`` is the name of the definition's TOML table; ``facts`` are about this kind of store.
    """
    run = store.storage.lock.holder()
    every = {
        **facts,
        "store": f"{store.address}, {human(store.storage.size())}, format version {store.KIND.version}",
        "last commit": format_time(store.storage.modified(MANIFEST)),
        **({"running": str(run)} if run and run.alive else {}),
    }
    content = [code(as_toml(table, published(settings))), definitions(every.items())]
    return Section("How it was computed", about, content)


def checks(store: Store[Any], manifest: SearchManifest | TilingManifest, noun: str, verified: str | None) -> Section:
    """Return the section on how to verify a store, unless ``verified`` is None, and how to recompute it.

    ``noun`` is "puzzle" or "board"; ``verified`` describes what the command verifies.
    """
    verify = [f"# verifies every byte and {verified}", f"antipodes verify {in_shell(store.address)}\n"]
    facts = {
        f"fingerprint of the {noun}": element("code", manifest.fingerprint),
        f"SHA-256 of {MANIFEST}": element("code", store.manifest_file.current_digest()),
    }
    about = "If you have the store, you can verify it. If not, you can recompute it and compare the numbers."
    lines = [*(verify if verified else ()), *recompute(manifest)]
    return Section("How to check it", about, [commands(*lines), definitions(facts.items())])


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else in_quotes(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _in_lines(value) if "\n" in value else in_quotes(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())} }}" if value else "{}"
    if isinstance(value, Sequence):
        return _list([_value(one) for one in value])
    return json.dumps(value)


def _list(values: Sequence[str]) -> str:
    together = ", ".join(values)
    lines = len(together) > LINE_CHARACTERS and "\n" not in together
    return "[\n" + "".join(f"    {value},\n" for value in values) + "]" if lines else f"[{together}]"


def in_quotes(text: str) -> str:
    """Return a text in quotation marks, which TOML and YAML can read."""
    return "".join(one if one.isprintable() else _escape(one) for one in json.dumps(text, ensure_ascii=False))


def _in_lines(text: str) -> str:
    """Return a multi-line string between lines of quotation marks, as boards are written by hand."""
    kept = text.replace("\\", "\\\\")
    if '"""' in kept or kept.endswith('"'):
        kept = kept.replace('"', '\\"')
    kept = "".join(one if one.isprintable() or one == "\n" else _escape(one) for one in kept)
    return f'"""\n{kept}"""'


def _escape(character: str) -> str:
    """Return TOML's escape sequence for a character; TOML refuses some raw characters, and others affect terminals."""
    return f"\\U{ord(character):08x}" if ord(character) > 0xFFFF else f"\\u{ord(character):04x}"
