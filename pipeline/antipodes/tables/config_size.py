"""What the settings of a puzzle take, where they are more than a few: a config may list half a million edges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SETTING_BYTES, RECORD_SETTING_BYTES = 170, 24
"""What a number, or a character, of a config takes: in memory as it is read and written, and in the manifest."""
ORDINARY_SETTINGS = 2000
"""So many of them are counted with the program and the manifest."""


@dataclass(frozen=True, slots=True)
class ConfigSize:
    """What settings take beyond an ordinary number of them."""

    memory_bytes: int
    """In each process."""
    disk_bytes: int
    """In the manifest, which is there twice while it is replaced."""


def config_size(settings: Mapping[str, Any]) -> ConfigSize:
    """What the settings of a puzzle take, at most."""
    further = max(0, _values(settings) - ORDINARY_SETTINGS)
    return ConfigSize(SETTING_BYTES * further, 2 * RECORD_SETTING_BYTES * further)


def _values(setting: Any) -> int:
    """How many numbers, lists and characters of texts a part of a config has."""
    if isinstance(setting, Mapping):
        return sum(map(_values, setting.values()))
    if isinstance(setting, list):
        return 1 + sum(map(_values, setting))
    return len(setting) if isinstance(setting, str) else 1
