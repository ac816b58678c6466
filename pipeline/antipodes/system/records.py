"""Records: dataclasses whose fields are the keys of JSON objects.

Commands, exported files and the service turn records into JSON with `values_of`, Python programs get the same values
from `as_dict`, and the service describes its answers by the classes of the records.
"""

from collections.abc import Callable
from dataclasses import field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

Record = TypeVar("Record", bound=type)


class Absent(Enum):
    """The type of ABSENT; its only value makes pydantic describe the default of an optional field as null."""

    ABSENT = None


ABSENT: Any = Absent.ABSENT
"""The value of an optional field whose key is missing in JSON, which differs from null."""
OPTIONAL = "optional"
REQUIRED = object()


def optional(default: Any = ABSENT) -> Any:
    """Declare a field whose key is missing in JSON while the value is the default, which must be a singleton."""
    return field(default=default, metadata={OPTIONAL: True})


def schema_name(name: str) -> Callable[[Record], Record]:
    """Give a record a name in the description of the API that differs from the name of its class."""

    def renamed(record: Record) -> Record:
        record.__name__ = record.__qualname__ = name
        return record

    return renamed


def values_of(record: Any) -> dict[str, Any]:
    """Return the values of a record by key, without missing keys. Use it as the argument ``default`` of `json.dumps`.

    Raises TypeError if the value is not a record.
    """
    found = {}
    for name, default in _keys(record.__class__):
        value = getattr(record, name)
        if value is not default:
            found[name] = value
    return found


def record_of(kind: Any, source: object, **others: Any) -> Any:
    """Return a record with the values of the attributes of ``source`` that have the names of its fields.

    ``others`` are the values of the remaining fields.
    """
    names = [one.name for one in fields(kind) if one.name not in others]
    return kind(**{name: getattr(source, name) for name in names}, **others)


@cache
def _keys(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Return the name of each field, and the default with which its key is missing, or REQUIRED."""
    if not is_dataclass(kind):
        raise TypeError(f"Object of type {kind.__name__} is not JSON serializable")
    return tuple((one.name, one.default if OPTIONAL in one.metadata else REQUIRED) for one in fields(kind))


def as_dict(record: Any) -> dict[str, Any]:
    """Return the values of a record by key; records in it become dictionaries, too."""
    return {name: _plain(value) for name, value in values_of(record).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return as_dict(value) if is_dataclass(value) else value
