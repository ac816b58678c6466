"""Small boards and their stores, for the tests of tilings."""

import json
from pathlib import Path
from typing import Any

from stores import contents

from antipodes.tables.run import RunOptions
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.run import tile_board

SQUARE = {"name": "square", "cells": "\n".join(["....."] * 5), "pieces": "ILPWY"}
"""A board with 10 tilings, in 4 of its 6 partitions."""
BOX = {"name": "box", "cells": "\n\n".join(["\n".join(["....."] * 3)] * 2), "pieces": "LNPUVY"}
"""A board with 9 tilings, in 3 of its 8 partitions."""
FIVE_PIECES = {
    "I": "####",
    "O": "##\n##",
    "T": "###\n.#.",
    "S": ".##\n##.",
    "L": "###\n#..",
}
IMPOSSIBLE = {"name": "impossible", "cells": "\n".join(["...."] * 5), "pieces": FIVE_PIECES}
"""A board without tilings or partitions: a chessboard colouring rules them out."""

COPIES = {
    "name": "copies",
    "cells": "....\n.??.\n....",
    "pieces": {"V": {"shape": "##\n#.", "count": 2}, "D": {"shape": "##", "count": 2}},
}
"""A board with two copies of each of two pieces, and two optional cells."""


_FILES: dict[str, dict[str, bytes]] = {}


def tiled(settings: dict[str, Any], store: Path) -> Path:
    """Return the store of a finished search; if it does not exist yet, copy the store of an earlier test."""
    key = json.dumps(settings)
    if key in _FILES and not store.exists():
        for name, content in _FILES[key].items():
            (store / name).parent.mkdir(parents=True, exist_ok=True)
            (store / name).write_bytes(content)
    else:
        assert tile_board(BoardConfig(settings), store, options=RunOptions(workers=2)).complete
        _FILES[key] = contents(store)
    return store


def board_file(settings: dict[str, Any], path: Path) -> Path:
    """Write a board to a TOML file; its pieces are a string, or a table of drawings or of tables."""
    lines = [f"{key} = '''{value}'''" for key, value in settings.items() if isinstance(value, str)]
    pieces = settings.get("pieces")
    if isinstance(pieces, dict):
        lines += ["[board.pieces]", *(f"{name} = {_value(piece)}" for name, piece in pieces.items())]
    path.write_text("\n".join(["[board]", *lines, ""]))
    return path


def _value(piece: object) -> str:
    if isinstance(piece, dict):
        return "{ " + ", ".join(f"{key} = {_value(value)}" for key, value in piece.items()) + " }"
    return f"'''{piece}'''" if isinstance(piece, str) else str(piece).lower()
