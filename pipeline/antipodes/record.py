"""A small JSON file that is replaced as a whole and knows its own checksum: what a store commits to."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from antipodes.errors import StoreDamagedError, StoreError

CHECKSUM = "checksum"


def write_record(path: Path, content: dict[str, Any]) -> None:
    """Put ``content`` at ``path``: after a crash at any moment, the old record is there or the new one."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            file.write(_serialised(content))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_directory(path.parent)
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


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    sync_file(path)


def sync_file(path: Path) -> None:
    """Make the content of a file durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _serialised(content: dict[str, Any]) -> bytes:
    body = json.dumps(content, ensure_ascii=False)
    checksum = hashlib.sha256(body.encode()).hexdigest()
    return (json.dumps({**content, CHECKSUM: checksum}, ensure_ascii=False, indent=1) + "\n").encode()
