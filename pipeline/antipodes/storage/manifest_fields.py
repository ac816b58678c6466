"""Types of manifest fields. Each field is declared once; its declaration is used both to read and to write the field.

A dataclass declares a field as ``rows: int = field(metadata=stored_as(integer(1, 10)))``; `integer` is a `ValueKind`.
"""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from antipodes_tasks.base import values
from antipodes_tasks.base.errors import FieldError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.base.values import ValueKind

TYPE = "type"
"""The key of a field's type in the metadata of the dataclass field."""

SHA256 = values.matching(re.compile("[0-9a-f]{64}").fullmatch, "64 hexadecimal digits")
"""The kind of SHA-256 digests."""

T = TypeVar("T")


@dataclass(frozen=True)
class FieldType:
    """The values that a field may have, in JSON and in memory."""

    read: Callable[[Any, str], Any]
    """Convert a JSON value to the value in memory, given the field's name for messages; raise FieldError if invalid."""
    write: Callable[[Any], Any] = lambda value: value
    """Convert the value in memory to the JSON value."""


ANY = FieldType(lambda value, name: value)
"""The type that allows any value. The caller checks the value's meaning."""


def field_type(declared: FieldType | ValueKind) -> FieldType:
    """Return the type of a field. The values of a `ValueKind` are the same in JSON and in memory."""
    if isinstance(declared, FieldType):
        return declared
    return FieldType(lambda value, name: declared.check(value, name, FieldError))


def stored_as(declared: FieldType | ValueKind) -> Mapping[str, FieldType]:
    """Return the metadata of a dataclass field of this type."""
    return {TYPE: field_type(declared)}


def expect(holds: bool, field: str, expected: str, found: Any) -> None:
    """Raise FieldError unless the condition holds."""
    if not holds:
        raise FieldError(f"{field}: expected {expected}, found {quote(found)}")


@contextmanager
def building(field: str, what: str) -> Iterator[None]:
    """Turn the errors of code that builds an object from a field into FieldErrors.

    The code may expect the types of TOML, but a field may have any JSON type, so many types of errors are possible.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise FieldError(f"{field}: not a valid definition of {what}: {shorten(str(error), 200)}") from error


def expect_fields(instance: Any, **expected: Any) -> None:
    """Raise FieldError unless the named fields have these values."""
    for name, value in expected.items():
        found = getattr(instance, name)
        expect(found == value, name, quote(value), found)


def binary(item_size: int) -> FieldType:
    """Return the type of byte strings, in base64, that consist of items of ``item_size`` bytes."""

    def read(value: Any, name: str) -> bytes:
        expected = f"items of {item_size} bytes in base64"
        expect(isinstance(value, str), name, expected, value)
        try:
            content = base64.b64decode(value, validate=True)
        except ValueError:
            raise FieldError(f"{name}: expected {expected}, found {quote(value)}") from None
        expect(len(content) % item_size == 0, name, expected, f"{len(content)} bytes")
        return content

    return FieldType(read, lambda content: base64.b64encode(content).decode())


def optional(declared: FieldType | ValueKind) -> FieldType:
    """Return a type that also allows null (None)."""
    item = field_type(declared)
    return FieldType(
        lambda value, name: None if value is None else item.read(value, name),
        lambda value: None if value is None else item.write(value),
    )


def list_of(declared: FieldType | ValueKind) -> FieldType:
    """Return the type of lists whose items have the declared type. The lists are tuples in memory."""
    item = field_type(declared)

    def read(content: Any, name: str) -> tuple[Any, ...]:
        listed = values.LIST.check(content, name, FieldError)
        return tuple(item.read(value, f"{name}[{number}]") for number, value in enumerate(listed))

    return FieldType(read, lambda content: [item.write(value) for value in content])


def mapping_of(declared: FieldType | ValueKind) -> FieldType:
    """Return the type of objects with any keys whose values have the declared type. They are dicts in memory."""
    item = field_type(declared)

    def read(content: Any, name: str) -> dict[str, Any]:
        entries = values.OBJECT.check(content, name, FieldError).items()
        return {key: item.read(value, f"{name}[{quote(key)}]") for key, value in entries}

    return FieldType(read, lambda content: {key: item.write(value) for key, value in content.items()})


def settings() -> FieldType:
    """Return the type of a puzzle's or a board's settings: objects with any keys and values, including a ``name``."""
    mapping = mapping_of(ANY)

    def read(value: Any, name: str) -> dict[str, Any]:
        content: dict[str, Any] = mapping.read(value, name)
        values.TEXT.check(content.get("name"), f"{name}: name", FieldError)
        return content

    return FieldType(read, mapping.write)


def instance_of(declaration: type) -> FieldType:
    """Return the type of instances of a dataclass whose fields are declared."""
    return FieldType(lambda value, name: read_fields(declaration, value, name), write_fields)


def read_fields(declaration: type[T], content: Any, name: str = "") -> T:
    """Return the instance of a dataclass that a JSON object describes.

    The object must have all fields without a default, and no unknown fields. Raises FieldError if a field is missing,
    unknown, or has an invalid value.
    """
    values.OBJECT.check(content, name, FieldError)
    declared: dict[str, FieldType] = {one.name: one.metadata[TYPE] for one in fields(declaration)}  # type: ignore[arg-type]
    prefix = f"{name}." if name else ""
    for key in content:
        if key not in declared:
            raise FieldError(f"{prefix}{shorten(key)}: unknown field")
    required = {one.name for one in fields(declaration) if one.default is MISSING}  # type: ignore[arg-type]
    for key in declared:
        if key not in content and key in required:
            raise FieldError(f"{prefix}{key}: the field is missing")
    found = {key: one for key, one in declared.items() if key in content}
    return declaration(**{key: one.read(content[key], f"{prefix}{key}") for key, one in found.items()})


def write_fields(instance: Any) -> dict[str, Any]:
    """Return the JSON object of an instance of a dataclass, without fields that have their default values."""
    values_of = ((one, getattr(instance, one.name)) for one in fields(instance))
    return {one.name: one.metadata[TYPE].write(value) for one, value in values_of if value != one.default}
