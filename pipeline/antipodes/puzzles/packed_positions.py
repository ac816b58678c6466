"""Positions as text for settings: their labels, compressed with zlib and encoded in base64."""

import binascii
import zlib

import numpy as np

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError

MAX_CHARACTERS = 1 << 18
"""Maximum length of the text: the manifest of a store contains it and is written at each commit."""
MAX_BYTES = 1 << 26
"""Maximum number of bytes of the labels; a forged text of 262,144 characters could expand to three times this size."""
PIECE_BYTES = 1 << 20
"""Number of bytes that are compressed at a time."""


def packed(positions: Labels) -> str | None:
    """Return the text of labels ``(n, places)``; None if it would be too long."""
    content, compressor = positions.tobytes(), zlib.compressobj(9)
    if len(content) > MAX_BYTES:
        return None
    found = bytearray()
    for first in range(0, len(content), PIECE_BYTES):
        found += compressor.compress(content[first : first + PIECE_BYTES])
        if len(found) * 4 > MAX_CHARACTERS * 3:
            return None
    text = binascii.b2a_base64(found + compressor.flush(), newline=False).decode()
    return text if len(text) <= MAX_CHARACTERS else None


def unpacked(text: object, places: int) -> Labels:
    """Return the labels ``(n, places)`` of a text; raise InputError if the text is not from `packed`."""
    try:
        packed_text = arguments.text(text, "positions")
        if len(packed_text) > MAX_CHARACTERS:
            raise ValueError(f"{len(packed_text)} characters")
        decompressor = zlib.decompressobj()
        content = decompressor.decompress(binascii.a2b_base64(packed_text, strict_mode=True), MAX_BYTES)
        if not decompressor.eof or decompressor.unused_data:
            raise ValueError("the compressed bytes are cut off or too many")
        return np.frombuffer(content, dtype=np.uint8).reshape(-1, places)
    except (ValueError, zlib.error):
        reason = f"corrupt, or from a puzzle that does not have {places} places"
        raise InputError(f"the packed positions are {reason}") from None
