"""Settings of puzzles and boards as TOML, from which their stores can be computed again."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
SHORT = 100
"""Characters of a list on one line, about."""


def as_toml(table: str, settings: Mapping[str, Any]) -> str:
    """The settings as a TOML table of this name, which `tomllib` reads back."""
    return "".join([f"[{table}]\n", *(f"{_key(key)} = {_value(value)}\n" for key, value in settings.items())])


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _in_quotes(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _in_lines(value) if "\n" in value else _in_quotes(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())} }}" if value else "{}"
    if isinstance(value, Sequence):
        return _list([_value(one) for one in value])
    return json.dumps(value)


def _list(values: Sequence[str]) -> str:
    together = ", ".join(values)
    lines = len(together) > SHORT and "\n" not in together
    return "[\n" + "".join(f"    {value},\n" for value in values) + "]" if lines else f"[{together}]"


def _in_quotes(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _in_lines(text: str) -> str:
    """A text of several lines between lines of quotation marks, as people write boards."""
    kept = text.replace("\\", "\\\\")
    if '"""' in kept or kept.endswith('"'):
        kept = kept.replace('"', '\\"')
    kept = CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", kept)
    return f'"""\n{kept}"""'
