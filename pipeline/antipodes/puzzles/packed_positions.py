"""Positions as text, for settings: their labels, compressed (zlib) and written in base64."""

import binascii
import zlib

import numpy as np

from antipodes.puzzles.pattern import MOST_STARTS
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.rules.moves import Labels


def packed(positions: Labels) -> str:
    """The text of labels ``(n, places)``."""
    return binascii.b2a_base64(zlib.compress(positions.tobytes(), 9), newline=False).decode()


def unpacked(text: object, places: int) -> Labels:
    """The labels ``(n, places)``, MOST_STARTS at most; InputError where the text is none of so many places."""
    try:
        compressed = binascii.a2b_base64(arguments.text(text, "positions"), strict_mode=True)
        content = zlib.decompressobj().decompress(compressed, MOST_STARTS * places)
        return np.frombuffer(content, dtype=np.uint8).reshape(-1, places)
    except (ValueError, zlib.error):
        raise InputError(f"expected packed positions of {places} places, found something else") from None
