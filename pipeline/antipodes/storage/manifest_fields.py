"""Types of manifest fields. Each field is declared once; its declaration is used both to read and to write the field.

A dataclass declares a field as ``rows: int = field(metadata=stored_as(integer(1, 10)))``.
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
from antipodes_tasks.base.values import Kind

TYPE = "type"
"""The key of a field's type in the metadata of the dataclass field."""

T = TypeVar("T")


@dataclass(frozen=True)
class FieldType:
    """The values that a field may have, in JSON and in memory."""

    read: Callable[[Any, str], Any]
    """Convert a JSON value to the value in memory, given the field's name for messages; raise FieldError if invalid."""
    write: Callable[[Any], Any] = lambda value: value
    """Convert the value in memory to the JSON value."""


def stored_as(field_type: FieldType) -> Mapping[str, FieldType]:
    """Return the metadata of a dataclass field of this type."""
    return {TYPE: field_type}


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


def of_kind(kind: Kind) -> FieldType:
    """Return a type whose values are the same in JSON and in memory."""
    return FieldType(lambda value, name: kind.check(value, name, FieldError))


def integer(least: int, most: int) -> FieldType:
    """Return the type of integers from ``least`` to ``most``, without booleans."""
    return of_kind(values.integer(least, most))


def unsigned(bits: int) -> FieldType:
    """Return the type of non-negative integers of at most ``bits`` bits, without booleans."""
    return of_kind(values.unsigned(bits))


def boolean() -> FieldType:
    """Return the type of booleans."""
    return of_kind(values.FLAG)


def text() -> FieldType:
    """Return the type of strings."""
    return of_kind(values.TEXT)


def sha256() -> FieldType:
    """Return the type of SHA-256 digests: strings of 64 hexadecimal digits."""
    return of_kind(values.matching(re.compile("[0-9a-f]{64}").fullmatch, "64 hexadecimal digits"))


def one_of(*texts: str) -> FieldType:
    """Return the type of strings that allows only these strings."""
    return of_kind(values.one_of(*texts))


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


def optional(item: FieldType) -> FieldType:
    """Return a type that also allows null (None)."""
    return FieldType(
        lambda value, name: None if value is None else item.read(value, name),
        lambda value: None if value is None else item.write(value),
    )


def list_of(item: FieldType) -> FieldType:
    """Return the type of lists whose items have the type ``item``. The lists are tuples in memory."""

    def read(content: Any, name: str) -> tuple[Any, ...]:
        listed = values.LIST.check(content, name, FieldError)
        return tuple(item.read(value, f"{name}[{number}]") for number, value in enumerate(listed))

    return FieldType(read, lambda content: [item.write(value) for value in content])


def mapping_of(item: FieldType) -> FieldType:
    """Return the type of objects with any keys whose values have the type ``item``. They are dicts in memory."""

    def read(content: Any, name: str) -> dict[str, Any]:
        entries = values.OBJECT.check(content, name, FieldError).items()
        return {key: item.read(value, f"{name}[{quote(key)}]") for key, value in entries}

    return FieldType(read, lambda content: {key: item.write(value) for key, value in content.items()})


def settings() -> FieldType:
    """Return the type of a puzzle's or a board's settings: objects with any keys and values, including a ``name``."""
    mapping = mapping_of(any_value())

    def read(value: Any, name: str) -> dict[str, Any]:
        content: dict[str, Any] = mapping.read(value, name)
        values.TEXT.check(content.get("name"), f"{name}: name", FieldError)
        return content

    return FieldType(read, mapping.write)


def any_value() -> FieldType:
    """Return the type that allows any value. The caller checks the value's meaning."""
    return FieldType(lambda value, name: value)


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
