import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stores import toml

from antipodes.puzzles.config import _LOADED, MAX_LOADED, Config, bundled_configs, load_config, named_puzzles
from antipodes.tables.planning.plan import plan_cut
from antipodes.tilings.board_config import load_board
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.rules.swaps import swap_edges
from antipodes_tasks.spaces.selection import best_space

LINE: dict[str, Any] = {"name": "line", "family": "sliding", "rows": 1, "columns": 3, "start": "1 2 0"}


def test_bundled_names() -> None:
    names = {"five-tiles", "three-colours", "eight-puzzle", "eight-puzzle-blank-first", "twelve-puzzle-colours"}
    assert names | {"eleven-puzzle", "seven-tiles"} <= set(bundled_configs())


@pytest.mark.parametrize("name", named_puzzles())
def test_bundled_configs_describe_puzzles_of_their_names(name: str) -> None:
    puzzle = load_config(name).puzzle
    assert puzzle.name == name
    assert puzzle.description


def test_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "line.toml"
    path.write_text(toml(LINE, {"workers": 2, "checkpoint_every": 0, "memory_limit": "1GB"}))
    assert load_config(str(path)) == Config(LINE, {"workers": 2, "checkpoint_every": 0, "memory_limit": "1GB"})


def test_patterns_are_bundled_or_beside_the_config(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(toml(LINE))
    path = tmp_path / "line.toml"
    path.write_text(toml(LINE) + "\n[solve]\npatterns = ['fifteen-puzzle-7', 'other.toml', 'other.toml']\n")
    assert load_config(str(path)).patterns == ("fifteen-puzzle-7", str(tmp_path / "other.toml"))


@pytest.mark.slow
def test_the_patterns_of_bundled_puzzles_have_their_moves() -> None:
    pairs = [(config, load_config(name)) for config in map(load_config, bundled_configs()) for name in config.patterns]
    assert pairs
    for config, pattern in pairs:
        assert pattern.puzzle.places <= config.puzzle.places
        assert len(pattern.puzzle.moves) == len(config.puzzle.moves)
        assert best_space(pattern.puzzle.rules).size < 1 << 32
        cut, _ = plan_cut(pattern.puzzle, pattern.run.get("symmetry"))
        if swap_edges(pattern.puzzle.rules) is not None:
            assert cut.numbering.symmetries == 1  # `solve` would expand a reduced table in memory


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\[puzzle\]"),
        ("[puzzle]", "family"),
        ("puzzle = 5", "puzzle: expected a table"),
        ("[puzzles]", "puzzles: unknown key"),
        ("[puzzle", "TOML"),
        (toml(LINE) + "\n[extra]", "extra: unknown key"),
        (toml({**LINE, "colums": 3}), "colums: unknown key"),
        (toml({**LINE, "enumerated": 1}), "enumerated: expected true or false, found 1"),
        (
            toml({**LINE, "enumerated": True, "free": ["1"]}),
            "enumerated: cannot be combined with free tiles or moves; remove one of them",
        ),
        (toml(LINE, {"wrokers": 2}), r"\[run\] wrokers: unknown key"),
        (toml(LINE, {"workers": "two"}), r"\[run\] workers: expected an integer of at least 1, found 'two'"),
        (
            toml(LINE, {"checkpoint_every": "often"}),
            r"\[run\] checkpoint_every: expected a number of at least 0, found",
        ),
        (
            toml(LINE, {"memory_limit": 1.5}),
            r"\[run\] memory_limit: expected a number of bytes or a string such as 2GiB",
        ),
        (toml(LINE) + "\n[solve]\ntables = []", r"\[solve\] tables: unknown key; expected patterns"),
        (toml(LINE) + "\n[solve]\npatterns = 'one'", r"\[solve\] patterns: expected a list of names or files"),
        (toml(LINE) + "\n[solve]\npatterns = ['no.toml']", r"patterns: expected a bundled pattern or a file"),
        ("rows = " + "1" * 5000, "TOML"),
        ("a = " + "[" * 5000, "TOML"),
    ],
)
def test_bad_files_are_refused_with_their_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(str(path))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("suffix", [".tws", ".json", ".gap"])
def test_an_empty_definition_is_refused_as_one(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_text("\n")
    with pytest.raises(ConfigError, match=f"bad{suffix}: the {suffix} file is empty"):
        load_config(str(path))


def test_endings_may_be_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "ring.TWS"
    path.write_text("Set A 3 1\nSolved\nA\n1 2 3\nEnd\nMove R\nA\n2 3 1\nEnd\n")
    assert load_config(str(path)).puzzle.name == "ring"


def test_a_directory_is_refused_as_one(tmp_path: Path) -> None:
    path = tmp_path / "skewb.tws"
    path.mkdir()
    with pytest.raises(ConfigError, match="found a directory, '"):
        load_config(str(path))


def test_no_text_at_all(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(ConfigError, match="TOML"):
        load_config(str(path))


@pytest.mark.parametrize(
    "name",
    [
        "no-such-name",
        "",
        ".",
        "/",
        "no/such.toml",
        "../eight-puzzle",
        "boards/6x10",
        "patterns/fifteen-puzzle-7",
        "x" * 5000,
    ],
)
def test_what_is_neither_a_name_nor_a_file(name: str) -> None:
    with pytest.raises(ConfigError, match="expected the name of a puzzle, the path of its file"):
        load_config(name)


@pytest.mark.parametrize(("name", "meant"), [("eight-puzle", "eight-puzzle"), ("3x3", "3x3x3")])
def test_a_close_name_is_offered(name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=rf"there is no puzzle '{name}'; did you mean {meant}\?$"):
        load_config(name)


def test_close_names_of_the_other_kind_and_of_files_are_offered() -> None:
    with pytest.raises(
        ConfigError, match=r"there is no board 'eight-puzzel'; did you mean the puzzle eight-puzzle\? Give"
    ):
        load_board("eight-puzzel")
    with pytest.raises(ConfigError, match=r"there is no file '3x3x3\.toml'; did you mean 3x3x3\?$"):
        load_config("3x3x3.toml")
    with pytest.raises(ConfigError, match=r"there is no board '6x9'; did you mean 6x10\?$"):
        load_board("6x9")


def test_a_board_is_not_a_puzzle(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="6x10 is a board, not a puzzle; find its tilings with antipodes tile"):
        load_config("6x10")
    (tmp_path / "mine.toml").write_text("[board]\nname = 'mine'\ncells = '..'")
    with pytest.raises(ConfigError, match="this file describes a board, not a puzzle; find its tilings"):
        load_config(str(tmp_path / "mine.toml"))
    with pytest.raises(
        ConfigError, match=r"eight-puzzle is a puzzle, not a board; .* antipodes run or antipodes solve"
    ):
        load_board("eight-puzzle")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('name = "mine\nrows = 3', 'the quote " in line 2'),
        ('name = "mine\\"\nrows = 3', 'the quote " in line 2'),
        ('name = "mine"\nstart = """\n1 2\n', 'the quote """ in line 3'),
        ("start = '''\n1 2\n", "the quote ''' in line 2"),
        ("# [ it's\nstarts = [\n'1 2'\nrows = 3\n", "the bracket [ in line 3"),
        ("moves = { a = [1, 0]\nrows = 3\n", "the bracket { in line 2"),
    ],
)
def test_an_unclosed_quote_or_bracket_is_named(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"[puzzle]\n{text}", newline="")
    with pytest.raises(ConfigError, match=rf"not a valid TOML file: {re.escape(what)} is not closed$"):
        load_config(str(path))


@pytest.mark.parametrize("text", ["name = it's", 'name = "C:\\path"', "name = 1 2 [", "name = ]"])
def test_other_errors_of_the_parser_are_passed_on(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"[puzzle]\n{text}\nrows = 3\n")
    with pytest.raises(ConfigError, match=r"not a valid TOML file: .* \(at line 2, column \d+\)$"):
        load_config(str(path))


def test_a_mistyped_file_and_a_missing_key_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('[puzzle]\nname = "mine"\nfamily = "hanoi"\npegs = 3')
    with pytest.raises(ConfigError, match=r"there is no file 'nime\.toml'; similar ones there: 'mine\.toml'$"):
        load_config("nime.toml")
    with pytest.raises(ConfigError, match="nor a directory"):
        load_config("nowhere/mine.toml")
    with pytest.raises(ConfigError, match=r"mine\.toml: \[puzzle\]: the key 'discs' is missing$"):
        load_config("mine.toml")


SQUARE = '[puzzle]\nname = "square"\nfamily = "sliding"\nrows = 2\ncolumns = 2\nstart = "1 2 3 0"\n'
TURN = "Name turn\nSet C 3 1\nSolved\nC\n1 2 3\nEnd\nMove L\nC\n2 3 1\nEnd\n"
"""A definition of twsearch."""


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """Also if its size and its time stamps stay the same, and if it is replaced while programs name it."""
    path = tmp_path / "square.toml"
    for number in range(4):
        start = ("1 2 3 0", "1 3 2 0")[number % 2]
        path.write_text(SQUARE.replace("1 2 3 0", start))
        os.utime(path, (1e9, 1e9))
        for _ in range(3):
            puzzle = load_config(str(path)).puzzle
            assert puzzle.format(puzzle.start_labels[0]) == start
    path.write_text(SQUARE.replace("1 2 3 0", "1 2 3 4"))
    with pytest.raises(ConfigError, match="start"):
        load_config(str(path))
    path.unlink()
    with pytest.raises(ConfigError, match="there is no file"):
        load_config(str(path))


def test_a_definition_that_a_config_names_is_read_again(tmp_path: Path) -> None:
    config, definition = tmp_path / "turn.toml", tmp_path / "turn.tws"
    config.write_text('[puzzle]\nname = "turn"\nfamily = "twisty"\nfile = "turn.tws"\nturns = "single"\n')
    for name in ("L", "R", "L"):
        definition.write_text(TURN.replace("Move L", f"Move {name}"))
        for _ in range(3):
            assert load_config(str(config)).puzzle.moves.names == (name,)
            assert load_config(str(definition)).puzzle.moves.names[0][0] == name
    definition.unlink()
    with pytest.raises(ConfigError, match=r"turn\.tws"):
        load_config(str(config))


def test_a_pattern_that_a_config_names_is_looked_for_again(tmp_path: Path) -> None:
    pattern, config = tmp_path / "pattern.toml", tmp_path / "square.toml"
    config.write_text(f'{SQUARE}[solve]\npatterns = ["pattern.toml"]\n')
    pattern.write_text(SQUARE)
    for _ in range(3):
        assert load_config(str(config)).patterns == (str(pattern),)
    pattern.unlink()
    with pytest.raises(ConfigError, match=r"expected a bundled pattern or a file, found 'pattern\.toml'"):
        load_config(str(config))


def test_a_name_that_is_relative_follows_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for start in ("1 2 3 0", "3 2 1 0"):
        folder = tmp_path / start.replace(" ", "")
        folder.mkdir()
        (folder / "square.toml").write_text(SQUARE.replace("1 2 3 0", start))
        monkeypatch.chdir(folder)
        for _ in range(3):
            puzzle = load_config("square.toml").puzzle
            assert puzzle.format(puzzle.start_labels[0]) == start


def test_callers_share_nothing_that_they_can_change() -> None:
    for name in ("eight-puzzle", "2x2x2-corner", "klotski"):
        first = load_config(name)
        before = first.puzzle.start_labels.copy(), dict(first.settings), first.puzzle.fingerprint
        first.puzzle.start_labels[:] = 0
        assert isinstance(first.settings, dict)
        first.settings["start"] = "1"
        first.settings.setdefault("more", []).append(5)
        for _ in range(3):
            again = load_config(name)
            assert np.array_equal(again.puzzle.start_labels, before[0])
            assert (dict(again.settings), again.puzzle.fingerprint) == before[1:]
            assert again.puzzle.settings is again.settings


def test_many_configs_are_not_all_kept(tmp_path: Path) -> None:
    for number in range(3 * MAX_LOADED):
        path = tmp_path / f"{number}.toml"
        path.write_text(SQUARE.replace("square", f"square-{number}"))
        assert load_config(str(path)).puzzle.name == f"square-{number}"
    assert len(_LOADED._loaded) <= MAX_LOADED


def test_a_known_config_is_found_without_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder is listed, and no puzzle is made."""
    path = tmp_path / "square.toml"
    path.write_text(SQUARE)
    for name in ("fifteen-puzzle", str(path)):
        load_config(name)
    for function in ("bundled_configs", "puzzle_from", "read_config"):
        monkeypatch.setattr(f"antipodes.puzzles.config.{function}", None)
    for name in ("fifteen-puzzle", str(path)):
        assert load_config(name).puzzle.places in (4, 16)
