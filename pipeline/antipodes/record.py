"""A small JSON file that is replaced as a whole and knows its own checksum: what a store commits to."""

import hashlib
import json
from pathlib import Path
from typing import Any

from antipodes.durable import replace_file
from antipodes.errors import StoreDamagedError, StoreError

CHECKSUM = "checksum"


def write_record(path: Path, content: dict[str, Any]) -> None:
    """Put ``content`` at ``path``: after a crash at any moment, the old record is there or the new one."""
    try:
        replace_file(path, _serialised(content))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error


def read_record(path: Path) -> dict[str, Any]:
    """The content of the record.

    Raises
    ------
    StoreDamagedError
        One of its bytes is not what was written.
    """
    try:
        written = path.read_bytes()
        content = json.loads(written)
        content.pop(CHECKSUM)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreDamagedError(f"{path} is damaged: expected a record with a checksum") from error
    if _serialised(content) != written:
        raise StoreDamagedError(f"{path} is damaged: its checksum does not fit its content")
    assert isinstance(content, dict)
    return content


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _serialised(content: dict[str, Any]) -> bytes:
    body = json.dumps(content, ensure_ascii=False)
    checksum = hashlib.sha256(body.encode()).hexdigest()
    return (json.dumps({**content, CHECKSUM: checksum}, ensure_ascii=False, indent=1) + "\n").encode()
