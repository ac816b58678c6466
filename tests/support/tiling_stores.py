"""Small boards and their stores, for the tests of tilings."""

import json
from pathlib import Path
from typing import Any

from stores import contents

from antipodes.tables.run import RunOptions
from antipodes.tilings.config import BoardConfig
from antipodes.tilings.run import tile_board

SQUARE = {"name": "square", "cells": "\n".join(["....."] * 5), "pieces": "ILPWY"}
"""10 tilings, in 4 of 6 partitions."""
BOX = {"name": "box", "cells": "\n\n".join(["\n".join(["....."] * 3)] * 2), "pieces": "LNPUVY"}
"""9 tilings, in 3 of 8 partitions."""
FIVE_PIECES = {
    "I": "####",
    "O": "##\n##",
    "T": "###\n.#.",
    "S": ".##\n##.",
    "L": "###\n#..",
}
IMPOSSIBLE = {"name": "impossible", "cells": "\n".join(["...."] * 5), "pieces": FIVE_PIECES}
"""The colours of a chessboard rule it out, so that there are no partitions."""

COPIES = {
    "name": "copies",
    "cells": "....\n.??.\n....",
    "pieces": {"V": {"shape": "##\n#.", "count": 2}, "D": {"shape": "##", "count": 2}},
}
"""Two pieces of two copies each; two cells may stay empty."""


_FILES: dict[str, dict[str, bytes]] = {}


def tiled(settings: dict[str, Any], store: Path) -> Path:
    """The store of a finished search, copied from that of an earlier test where there is none yet."""
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
    """A TOML file with the board; pieces are a text, or a table of drawings or of tables with strings and numbers."""
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
