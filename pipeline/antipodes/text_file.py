"""Files as a person wrote them: texts of a bounded size."""

from pathlib import Path

from antipodes_tasks.errors import ConfigError

MOST_BYTES = 1 << 20
"""A complete graph of 400 squares, edge by edge, is smaller."""


def read_text(path: Path, what: str) -> str:
    """The text of a file, without a byte order mark; messages call it ``what``.

    Raises
    ------
    ConfigError
        The file cannot be read, is not UTF-8, or is larger than 1 MiB.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"expected {what}: {error.strerror or error}") from error
    if len(content) > MOST_BYTES:
        raise ConfigError(f"expected {what} of at most {MOST_BYTES:,} bytes, found a larger one")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"expected {what} in UTF-8, found other bytes at {error.start}") from error
