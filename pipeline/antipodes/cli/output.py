"""How commands speak: results on stdout, everything else on stderr, and the exit status."""

import json
import shutil
import sys
from typing import Any

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 75
"""EX_TEMPFAIL: the same command goes on from there."""


def print_json(value: Any) -> None:
    """Print one JSON value."""
    print(json.dumps(value, ensure_ascii=False))


def complain(message: str, status: int) -> int:
    """Print one line on stderr; the exit status."""
    print(f"antipodes: {' '.join(message.split())}", file=sys.stderr)
    return status


def terminal_columns() -> int:
    """How many characters a line holds."""
    return shutil.get_terminal_size().columns
