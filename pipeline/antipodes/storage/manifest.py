"""A small JSON object that is replaced as a whole and knows its own checksum: what a store commits to."""

import hashlib
import json
from typing import Any

from antipodes.errors import StoreDamagedError

CHECKSUM = "checksum"


def serialise(content: dict[str, Any]) -> bytes:
    """A manifest as it is written."""
    body = json.dumps(content, ensure_ascii=False)
    checksum = hashlib.sha256(body.encode()).hexdigest()
    return (json.dumps({**content, CHECKSUM: checksum}, ensure_ascii=False, indent=1) + "\n").encode()


def parse(written: bytes, name: str) -> dict[str, Any]:
    """The content of a manifest; ``name`` is what it is called in messages.

    Raises
    ------
    StoreDamagedError
        One of its bytes is not what was written.
    """
    try:
        content = json.loads(written, parse_constant=_refuse)
        content.pop(CHECKSUM)
        intact = serialise(content) == written  # which an object with a key twice is not
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreDamagedError(f"{name} is damaged: expected a manifest with a checksum") from error
    if not intact:
        raise StoreDamagedError(f"{name} is damaged: its checksum does not fit its content")
    assert isinstance(content, dict)
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"expected JSON, found {constant}")


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
