"""Configs: TOML files that describe a puzzle or a board, and how to run it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from antipodes.puzzles import python_source
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.families.generators import settings_of
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import STARTS
from antipodes.system.options import OPTIONS
from antipodes.system.text_file import read_text, read_toml
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.base.values import FLAG, LIST, NAME, TABLE, TEXT, ValueKind

DEFINITIONS = {".tws": "tws", ".json": "kpuzzle", ".gap": "gap"}
"""Formats of other programs' puzzle definitions (twsearch, cubing.js, GAP) by file suffix."""
LONGEST_NAME = 60
"""Maximum length in characters of a puzzle's name that is derived from a file or from options."""
EXPECTED = {
    "puzzle": "the name of a puzzle, the path of its file (.toml, .tws, .json, .gap) or path.py:name",
    "board": "the name of a board or the path of a TOML file",
}
"""Descriptions of the arguments that name a puzzle or a board, for messages."""
TAKEN_BY = {
    "puzzle": "give it to a command for puzzles, such as antipodes run or antipodes solve",
    "board": "find its tilings with antipodes tile",
}
"""Advice for the user who gave a puzzle instead of a board, or a board instead of a puzzle."""
MAX_LOADED = 16
"""Maximum number of configs that stay in memory."""

RUN_KEYS: Mapping[str, ValueKind] = {
    "store": TEXT,
    **{name: option.kind for name, option in OPTIONS.items()},
    "quiet": FLAG,
}
"""Keys of ``[run]``, and the kinds of their values."""
FINGERPRINT = "fingerprint"
"""Key of a fingerprint in the settings of a puzzle whose code may have changed."""
SOLVE, PATTERNS, LARGE_PATTERNS = "solve", "patterns", "large_patterns"
"""The config's table for `solve`, and its keys, which list the puzzles whose tables guide a search."""
FOLDERS = {"puzzle": ("", PATTERNS), "board": ("boards",)}
"""Folders of bundled configs; a name in the first folder takes precedence."""


@dataclass(frozen=True, repr=False)
class Config:
    """A puzzle as described by its file, and the file's defaults for runs."""

    settings: Mapping[str, Any]
    """The ``[puzzle]`` table."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """The ``[run]`` table: defaults for the options of the same names."""
    patterns: tuple[str, ...] = ()
    """The puzzles whose tables guide `solve` for this puzzle: names and paths for `load_config`."""
    large_patterns: tuple[str, ...] = ()
    """More such puzzles, whose tables take much more time and memory."""
    files: tuple[Path, ...] = field(default=(), compare=False)
    """The files that describe the puzzle: the config, and the definition file that it names, if any."""

    def __post_init__(self) -> None:
        arguments.mapping(self.settings, "settings of a puzzle")
        arguments.mapping(self.run, "settings of a run")

    @cached_property
    def puzzle(self) -> Puzzle:
        """The puzzle described by the settings."""
        if self.settings.get("family") == python_source.FAMILY:
            return python_source.puzzle_in(self.settings)
        return replace(puzzle_from(self.settings), settings=self.settings)

    def __repr__(self) -> str:
        name, family = (shorten(str(self.settings.get(key)), 30) for key in ("name", "family"))
        return f"<Config of {name}: {family}{', with [run] options' if self.run else ''}>"


PuzzleLike = Puzzle | Config | str | os.PathLike[str]
"""A puzzle, its config, the name of a bundled puzzle, or the path of a puzzle's file."""


def as_config(puzzle: PuzzleLike) -> Config:
    """Return the config of a puzzle given in any form.

    If the moves of a Puzzle are functions that are not in a file, its config contains only its name and fingerprint, so
    other processes cannot rebuild the puzzle.

    Raises
    ------
    ArgumentTypeError
        The argument has another type.
    ConfigError, SourceError
        See `load_config`.
    """
    if isinstance(puzzle, Config):
        return puzzle
    if isinstance(puzzle, Puzzle):
        return _config_of(puzzle)
    path = arguments.path_or_text(puzzle, "a Puzzle, a Config, the name of a puzzle, or its file")
    return load_config(str(path))


def _config_of(puzzle: Puzzle) -> Config:
    """Return the config of a Puzzle object: settings that describe it, or else its name and fingerprint."""
    settings = puzzle.settings or settings_of(puzzle)
    if settings is not None and settings.get("family") != python_source.FAMILY:
        config = Config(settings)
        if not isinstance(settings.get(STARTS), Mapping) or config.puzzle.fingerprint == puzzle.fingerprint:
            return config
    return Config(python_source.object_settings(puzzle))


def register_puzzle(puzzle: PuzzleLike) -> Config:
    """Return the config of a puzzle. From now on, this process uses the puzzle to open its stores.

    Raises the errors of `as_config`.
    """
    return as_config(as_config(puzzle).puzzle)


def load_puzzle(name_or_path: str | os.PathLike[str]) -> Puzzle:
    """Return a puzzle, given a bundled name, a file's path, or a Python definition (``path.py:name``, ``module:name``).

    Raises the errors of `load_config`.
    """
    return load_config(str(arguments.path_or_text(name_or_path, EXPECTED["puzzle"]))).puzzle


def bundled_configs(folder: str = "") -> dict[str, Path]:
    """Return the paths of bundled configs by name."""
    return {path.stem: path for path in sorted((_configs() / folder).glob("*.toml"))}


def named_puzzles() -> dict[str, Path]:
    """Return the paths of all puzzles that can be given by name: the bundled puzzles and their patterns."""
    return {**bundled_configs(PATTERNS), **bundled_configs()}


@dataclass(frozen=True, slots=True)
class BundledPuzzle:
    """A bundled puzzle, as listed by ``puzzles --json``."""

    name: str
    family: str
    index_size: int | None
    description: str


def bundled_puzzles() -> list[BundledPuzzle]:
    """Return the bundled puzzles, sorted by name.

    No puzzle is built. Some sizes are only known after a search, so they are read from a file written by ``make
    atlas``. The size of a puzzle that is newer than the file is None.
    """
    sizes = json.loads(index_sizes_file().read_text(encoding="utf-8"))
    return [
        BundledPuzzle(name, settings["family"], sizes.get(name), settings.get("description", ""))
        for name, path in bundled_configs().items()
        for settings in [read_config(path, "puzzle", SOLVE)["puzzle"]]
    ]


def index_sizes_file() -> Path:
    """Return the file with the number of positions, reachable or not, in the table of each bundled puzzle."""
    return _configs() / "index-sizes.json"


def load_config(name_or_path: str) -> Config:
    """Return a config, given a bundled name, a file's path, or a Python definition (``path.py:name``, ``module:name``).

    Raises
    ------
    ConfigError
        There is no such config, or it does not describe a puzzle; the message names the file and the key.
    SourceError
        The Python code does not define a puzzle; the message names the file and the line.
    """
    if isinstance(name_or_path, str) and python_source.is_reference(name_or_path):  # type: ignore[redundant-expr]
        return Config(python_source.python_settings(name_or_path))
    return _LOADED.config(find_config(name_or_path, "puzzle"))


class _LoadedConfigs:
    """Cache of the last configs loaded in this process, because programs name a puzzle in each of thousands of calls.

    A config is read again if the content of its files has changed; time stamps are too coarse to detect every change.
    """

    def __init__(self) -> None:
        self._loaded: dict[tuple[Path, Path], tuple[list[str] | None, Config]] = {}

    def config(self, path: Path) -> Config:
        """Return the config in a file; raise the errors of `load_config`."""
        key = path, path.absolute()  # both, because the paths of its files may be relative
        state, known = self._loaded.get(key, (None, None))
        before = _state_of((path,) if known is None else known.files, () if known is None else _named(known))
        if known is not None and state is not None and state == before:
            return _copy_of(known)
        config = _described_in(path)
        unchanged = before == _state_of(config.files, _named(config))  # while they were read
        from_files = not isinstance(config.settings.get(STARTS), Mapping)
        if from_files and isinstance(config.puzzle.starts, tuple):  # starts given in Python may need much memory
            self._loaded = dict([*self._loaded.items(), (key, (before if unchanged else None, config))][-MAX_LOADED:])
        return _copy_of(config)


def _named(config: Config) -> tuple[str, ...]:
    """Return the names of all patterns of a config."""
    return config.patterns + config.large_patterns


def _described_in(path: Path) -> Config:
    """Return the config that a file describes; raise the errors of `load_config`."""
    try:
        config = Config(_definition_in(path), files=(path,)) if path.suffix.lower() in DEFINITIONS else _config_in(path)
        config.puzzle  # noqa: B018  (an invalid config raises here)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    return config


def _state_of(files: Sequence[Path], patterns: Sequence[str]) -> list[str] | None:
    """Return the contents of a config's files and the names of its missing patterns; None if a file is missing."""
    missing = [name for name in patterns if not is_bundled(name, "puzzle") and not os.path.isfile(name)]
    try:
        return [*(read_text(path, "a file") for path in files), *missing]
    except ConfigError:
        return None


def _copy_of(config: Config) -> Config:
    """Return a copy of a config, so that a caller who changes it or its arrays does not affect others."""
    settings, run = deepcopy(dict(config.settings)), deepcopy(dict(config.run))
    own = replace(config, settings=settings, run=run)
    own.__dict__["puzzle"] = replace(config.puzzle, rules=replace(config.puzzle.rules), settings=settings)
    return own


_LOADED = _LoadedConfigs()


def restrict_moves(config: Config, only_moves: str | None, omit: Sequence[str]) -> Config:
    """Return a twisty puzzle's config with only these moves and without some sets of pieces; its name shows both.

    Raises ConfigError if the puzzle is not twisty, or has no such moves or sets.
    """
    if only_moves is None and not omit:
        return config
    if only_moves is not None and not only_moves.strip():
        raise ConfigError(f"{option('only_moves')}: the list of moves is empty")
    if config.settings.get("family") != "twisty":
        family = quote(config.settings.get("family"))
        raise ConfigError(
            f"{option('only_moves')} and {option('omit')} need a twisty puzzle, such as a .tws file; "
            f"the family of this puzzle is {family}"
        )
    settings, name = dict(config.settings), [str(config.settings["name"])]
    if only_moves is not None:
        settings["only_moves"] = only_moves
        name += re.findall(r"\w+", only_moves)
    if omit:
        settings = {key: value for key, value in settings.items() if key not in ("net", "facelets", "faces")}
        settings["omit"] = " ".join(omit)
        name += ["without", *omit]
    found = Config({**settings, "name": "-".join(name)[:LONGEST_NAME]}, config.run)
    try:
        found.puzzle  # noqa: B018  (raises if the settings are invalid)
    except ConfigError as error:
        key, _, problem = str(error).partition(": ")
        raise ConfigError(f"{option(key)}: {problem}" if key in ("only_moves", "omit") else str(error)) from None
    return found


def _config_in(path: Path) -> Config:
    """Return the config in a TOML file, including a definition that it names with ``file``."""
    tables = read_config(path, "puzzle", SOLVE)
    settings, run, solve = tables["puzzle"], tables["run"], tables[SOLVE]
    if unknown := next((key for key in solve if key not in (PATTERNS, LARGE_PATTERNS)), None):
        raise ConfigError(f"[{SOLVE}] {shorten(unknown)}: unknown key; expected {PATTERNS} or {LARGE_PATTERNS}")
    patterns = _patterns_in(solve, PATTERNS, path.parent), _patterns_in(solve, LARGE_PATTERNS, path.parent)
    if settings.get("family") != "twisty" or "definition" in settings:
        return Config(settings, run, *patterns, (path,))
    if "file" not in settings:
        raise ConfigError("[puzzle]: the key 'file' is missing")
    file = settings.pop("file")
    if not isinstance(file, str) or Path(file).suffix.lower() not in DEFINITIONS:
        raise ConfigError(f"[puzzle] file: expected a {', '.join(DEFINITIONS)} file, found {quote(file)}")
    from antipodes.puzzles.families.twisty import FORMATS

    try:
        definition = _definition_in(path.parent / file)
        FORMATS[definition["format"]][0](definition["definition"])  # parse it here, where an error can name the file
    except ConfigError as error:
        raise ConfigError(f"[puzzle] file: {quote(file)}: {error}") from None
    return Config({**definition, **settings}, run, *patterns, (path, path.parent / file))


def _patterns_in(solve: Mapping[str, Any], key: str, folder: Path) -> tuple[str, ...]:
    """Return the puzzles in a list of ``[solve]``: bundled names, or files relative to the config."""
    names = solve.get(key, [])
    if not (LIST.fits(names) and all(isinstance(name, str) for name in names)):
        raise ConfigError(f"[{SOLVE}] {key}: expected a list of names or files of puzzles, found {quote(names)}")
    for name in names:
        if not is_bundled(name, "puzzle") and not os.path.isfile(folder / name):
            raise ConfigError(f"[{SOLVE}] {key}: expected a bundled pattern or a file, found {quote(name)}")
    return tuple(name if is_bundled(name, "puzzle") else str(folder / name) for name in dict.fromkeys(names))


def _definition_in(path: Path) -> dict[str, Any]:
    """Return the settings of a twisty puzzle that is defined in another program's file format."""
    definition = read_text(path, f"a {path.suffix} file")
    if not definition.strip():
        raise ConfigError(f"the {path.suffix} file is empty")
    name = re.sub(r"[^\w .,+-]", "-", path.stem)[:LONGEST_NAME]
    return {"name": name, "family": "twisty", "format": DEFINITIONS[path.suffix.lower()], "definition": definition}


def _bundled_path(name: str, noun: str) -> Path | None:
    """Return the path of a bundled config, or None if there is none with this name.

    The folder is not listed, because that would take longer than most searches.
    """
    if not NAME.fits(name) or Path(name).name != name:
        return None
    paths = (_configs() / folder / f"{name}.toml" for folder in FOLDERS[noun])
    return next(filter(Path.is_file, paths), None)


def is_bundled(name: str, noun: str) -> bool:
    """Return whether a puzzle or a board of this name is bundled; ``noun`` is a key of `EXPECTED`."""
    return _bundled_path(name, noun) is not None


def find_config(name_or_path: str, noun: str) -> Path:
    """Return the path of a bundled config or of a file; otherwise raise ConfigError with similar names."""
    expected = EXPECTED[noun]
    path = Path(arguments.path_or_text(name_or_path, expected))
    if (bundled := _bundled_path(str(name_or_path), noun)) is not None:
        return bundled
    if os.path.isfile(path):  # also False for names that are too long for the system
        return path
    names_a_file = path.suffix.lower() in (".toml", *DEFINITIONS) or len(path.parts) > 1
    if names_a_file and not os.path.isdir(path):
        meant = _similar(path) or _meant(path.stem, noun)
        raise ConfigError(f"expected {expected}; there is no file {quote(shorten(str(path), 200))}{meant}")
    if other := next((kind for kind in FOLDERS if is_bundled(str(name_or_path), kind)), None):
        raise ConfigError(f"{name_or_path} is a {other}, not a {noun}; {TAKEN_BY[other]}")
    found = f"{'a directory, ' if os.path.isdir(name_or_path) else ''}{quote(shorten(str(name_or_path)))}"
    if not os.path.isdir(name_or_path) and (meant := _meant(str(name_or_path), noun)):
        raise ConfigError(f"there is no {noun} {found}{meant}")
    raise ConfigError(f"expected {expected}, found {found}; list the bundled ones: antipodes {noun}s")


def close_name(text: str, names: Iterable[str]) -> str | None:
    """Return the name that the user probably meant by a text, or None."""
    is_size = len(text) <= 5 and any(map(str.isdigit, text))  # such as 6x9
    return next(iter(get_close_matches(text, sorted(names), n=1, cutoff=0.5 if is_size else 0.7)), None)


def _meant(text: str, noun: str) -> str:
    """Return the bundled puzzle or board that the user probably meant, as the end of a message."""
    for kind in sorted(FOLDERS, key=lambda kind: kind != noun):
        names = (name for folder in FOLDERS[kind] for name in bundled_configs(folder))
        if close := close_name(text, names):
            of_kind = f"the {kind} {close}? {TAKEN_BY[kind].capitalize()}"
            return f"; did you mean {f'{close}?' if kind == noun else of_kind}"
    return ""


def _similar(path: Path) -> str:
    """Return similar names of files in the same folder, as the end of a message."""
    try:
        close = get_close_matches(path.name, sorted(os.listdir(path.parent)), n=3)
    except OSError:
        return f", nor a directory {quote(shorten(str(path.parent)))}"
    return f"; similar ones there: {', '.join(map(quote, close))}" if close else ""


def read_config(path: Path, table: str, *others: str) -> dict[str, dict[str, Any]]:
    """Return the named table, the checked table ``[run]``, and the other tables of a file; missing ones are empty.

    Raises ConfigError if the named table is missing, or if there is any other table.
    """
    content = read_toml(path)
    _check_tables(content, table, others)
    tables: dict[str, dict[str, Any]] = {name: content.get(name, {}) for name in (table, "run", *others)}
    _check_run(tables["run"])
    return tables


@cache
def _configs() -> Path:
    """Return the folder of configs: in the package `antipodes` if installed, or at the top of a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "configs"
    return installed if installed.is_dir() else package.parents[1] / "configs"


def _check_tables(content: Mapping[str, Any], table: str, others: Sequence[str]) -> None:
    for key, value in content.items():
        if key not in (table, "run", *others):
            if key in TAKEN_BY and table in TAKEN_BY:
                raise ConfigError(f"this file describes a {key}, not a {table}; {TAKEN_BY[key]}")
            expected = ", ".join(f"[{name}]" for name in (table, "run", *others))
            raise ConfigError(f"{shorten(key)}: unknown key; expected the tables {expected}")
        TABLE.check(value, key)
    if table not in content:
        raise ConfigError(f"the table [{table}] is missing")


def _check_run(run: Mapping[str, Any]) -> None:
    for key, value in run.items():
        if key not in RUN_KEYS:
            raise ConfigError(f"[run] {shorten(key)}: unknown key; expected {', '.join(RUN_KEYS)}")
        RUN_KEYS[key].check(value, f"[run] {key}")
