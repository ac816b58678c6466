"""Memory and disk of a puzzle's settings: a config may list half a million edges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SETTING_BYTES, MANIFEST_SETTING_BYTES = 170, 24
"""Bytes of a number, or a character, of a config: in memory while it is read and written, and in the manifest."""
ORDINARY_SETTINGS = 2000
"""Numbers and characters that are counted with the program and the manifest."""


@dataclass(frozen=True, slots=True)
class ConfigSize:
    """Bytes of settings beyond ORDINARY_SETTINGS."""

    memory_bytes: int
    """In each process."""
    disk_bytes: int
    """In the manifest, of which there are two while it is replaced."""


def config_size(settings: Mapping[str, Any]) -> ConfigSize:
    """An upper bound of the bytes of a puzzle's settings."""
    further = max(0, _values(settings) - ORDINARY_SETTINGS)
    return ConfigSize(SETTING_BYTES * further, 2 * MANIFEST_SETTING_BYTES * further)


def _values(setting: Any) -> int:
    """The number of numbers, lists and characters of texts in a part of a config."""
    if isinstance(setting, Mapping):
        return sum(map(_values, setting.values()))
    if isinstance(setting, list):
        return 1 + sum(map(_values, setting))
    return len(setting) if isinstance(setting, str) else 1
