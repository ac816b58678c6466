"""The setting ``pieces`` of a board: the name of a set, letters of pentominoes, or a table of drawings."""

from collections.abc import Mapping
from typing import Any

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.exact_cover.boards import MOST_CELLS
from antipodes_tasks.exact_cover.piece_sets import PIECE_SETS, piece_set
from antipodes_tasks.exact_cover.pieces import PENTOMINOES, Piece, parse_piece
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.values import FLAG, SYMBOL, integer

KEY = "[board] pieces"
ALL_PENTOMINOES = "pentominoes"
PIECE_KEYS = ("shape", "count", "one_sided")


def parse_pieces_setting(value: object) -> tuple[Piece, ...]:
    """The pieces that a setting names or draws; ConfigError, which names the key, where it does neither."""
    if isinstance(value, str):
        return piece_set(value) if value in PIECE_SETS else _lettered(value)
    if isinstance(value, list):
        return _pentominoes(value)
    if isinstance(value, dict) and value:
        if len(value) > MOST_CELLS:
            raise ConfigError(f"{KEY}: expected at most {MOST_CELLS:,}, a cell each, found {len(value):,}")
        return tuple(_piece(name, setting) for name, setting in value.items())
    raise ConfigError(f"{KEY}: expected the name of a set, letters, or a table of drawings, found {quote(value)}")


def _lettered(text: str) -> tuple[Piece, ...]:
    """The pentominoes of these letters; a longer word of other letters is taken for the name of a set."""
    letters: list[object] = [letter for letter in text if letter not in " ,"]
    if len(letters) > len(PENTOMINOES) or (any(letter not in _KNOWN for letter in letters) and len(letters) > 4):
        raise ConfigError(
            f"{KEY}: expected letters of {''.join(_KNOWN)}, or a set among {', '.join(PIECE_SETS)}; "
            f"found {quote(shorten(text))}"
        )
    return _pentominoes(letters)


_KNOWN = {piece.name: piece for piece in PENTOMINOES}


def _pentominoes(letters: list[object]) -> tuple[Piece, ...]:
    chosen: list[Piece] = []
    for letter in letters:
        if not isinstance(letter, str) or letter not in _KNOWN:
            raise ConfigError(f"{KEY}: expected letters of {''.join(_KNOWN)}, found {quote(letter)}")
        if _KNOWN[letter] in chosen:
            raise ConfigError(f"{KEY}: expected each letter once, found {quote(letter)} again")
        chosen.append(_KNOWN[letter])
    if not chosen:
        raise ConfigError(f"{KEY}: expected at least one piece, found none")
    return tuple(chosen)


def _piece(name: str, setting: Any) -> Piece:
    """A piece as it is drawn, or as a table with its drawing describes it."""
    SYMBOL.check(name, KEY)
    key = f"{KEY}.{name}"
    table: Mapping[str, Any] = setting if isinstance(setting, dict) else {"shape": setting}
    unknown = sorted(map(str, set(table) - set(PIECE_KEYS)))
    if unknown:
        raise ConfigError(f"{key}.{shorten(unknown[0])}: unknown key; expected {', '.join(PIECE_KEYS)}")
    shape, count, one_sided = table.get("shape"), table.get("count", 1), table.get("one_sided", False)
    if not isinstance(shape, str):
        raise ConfigError(f"{key}: expected a drawing, found {quote(shape)}")
    integer(1, MOST_CELLS).check(count, f"{key}.count")
    FLAG.check(one_sided, f"{key}.one_sided")
    try:
        drawn = parse_piece(name, shape)
    except ConfigError as error:
        raise ConfigError(f"{key}: {error}") from None
    return Piece(name, drawn.cells, count, one_sided)
