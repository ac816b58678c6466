"""The fields of a manifest: each is declared once, beside its name, and read and written by that declaration.

A dataclass declares a field as ``rows: int = field(metadata=stored_as(integer(1, 10)))``.
"""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from antipodes_tasks import values
from antipodes_tasks.errors import FieldError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.values import Kind

TYPE = "type"
"""The key of a field's metadata for its type."""

T = TypeVar("T")


@dataclass(frozen=True)
class FieldType:
    """The values that a field may hold, as JSON and in memory."""

    read: Callable[[Any, str], Any]
    """The value in memory, from that in the JSON and the name of the field; raises FieldError."""
    write: Callable[[Any], Any] = lambda value: value
    """The value in the JSON, from that in memory."""


def stored_as(field_type: FieldType) -> Mapping[str, FieldType]:
    """The metadata of a dataclass field of this type."""
    return {TYPE: field_type}


def expect(holds: bool, field: str, expected: str, found: Any) -> None:
    """Raise FieldError unless the condition holds."""
    if not holds:
        raise FieldError(f"{field}: expected {expected}, found {quote(found)}")


@contextmanager
def building(field: str, what: str) -> Iterator[None]:
    """Turn the errors of code that builds something from a field into FieldErrors.

    The code may expect the types of TOML, while a field may hold any of JSON's, so errors of many types are possible.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise FieldError(f"{field}: expected {what}, found none: {shorten(str(error), 200)}") from error


def expect_fields(instance: Any, **expected: Any) -> None:
    """Raise FieldError unless the fields of these names have these values."""
    for name, value in expected.items():
        found = getattr(instance, name)
        expect(found == value, name, quote(value), found)


def of_kind(kind: Kind) -> FieldType:
    """Values that are the same in memory."""
    return FieldType(lambda value, name: kind.check(value, name, FieldError))


def integer(least: int, most: int) -> FieldType:
    """Integers from ``least`` to ``most``; no booleans."""
    return of_kind(values.integer(least, most))


def unsigned(bits: int) -> FieldType:
    """Integers of at most so many bits, none of them negative; no booleans."""
    return of_kind(values.unsigned(bits))


def boolean() -> FieldType:
    """True and false."""
    return of_kind(values.FLAG)


def text() -> FieldType:
    """Texts."""
    return of_kind(values.TEXT)


def sha256() -> FieldType:
    """SHA-256 digests as 64 hexadecimal digits."""
    return of_kind(values.matching(re.compile("[0-9a-f]{64}").fullmatch, "64 hexadecimal digits"))


def one_of(*texts: str) -> FieldType:
    """These texts."""
    return of_kind(values.one_of(*texts))


def binary(item_size: int) -> FieldType:
    """Items of ``item_size`` bytes, one after the other, in base64."""

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
    """Null, or a value of a type."""
    return FieldType(
        lambda value, name: None if value is None else item.read(value, name),
        lambda value: None if value is None else item.write(value),
    )


def list_of(item: FieldType) -> FieldType:
    """Lists of values of a type; tuples in memory."""

    def read(content: Any, name: str) -> tuple[Any, ...]:
        listed = values.LIST.check(content, name, FieldError)
        return tuple(item.read(value, f"{name}[{number}]") for number, value in enumerate(listed))

    return FieldType(read, lambda content: [item.write(value) for value in content])


def mapping_of(item: FieldType) -> FieldType:
    """Objects with any keys, whose values are of a type; dicts in memory."""

    def read(content: Any, name: str) -> dict[str, Any]:
        entries = values.OBJECT.check(content, name, FieldError).items()
        return {key: item.read(value, f"{name}[{quote(key)}]") for key, value in entries}

    return FieldType(read, lambda content: {key: item.write(value) for key, value in content.items()})


def settings() -> FieldType:
    """The settings of a puzzle or a board: objects with any keys and values, among them a ``name``."""
    mapping = mapping_of(any_value())

    def read(value: Any, name: str) -> dict[str, Any]:
        content: dict[str, Any] = mapping.read(value, name)
        values.TEXT.check(content.get("name"), f"{name}: name", FieldError)
        return content

    return FieldType(read, mapping.write)


def any_value() -> FieldType:
    """Any value; the caller checks its meaning."""
    return FieldType(lambda value, name: value)


def instance_of(declaration: type) -> FieldType:
    """Instances of a dataclass whose fields are declared."""
    return FieldType(lambda value, name: read_fields(declaration, value, name), write_fields)


def read_fields(declaration: type[T], content: Any, name: str = "") -> T:
    """The instance of a dataclass that a JSON object holds: all fields that have no default, and no others.

    FieldError where a field is missing, unknown, or holds a wrong value.
    """
    values.OBJECT.check(content, name, FieldError)
    declared: dict[str, FieldType] = {one.name: one.metadata[TYPE] for one in fields(declaration)}  # type: ignore[arg-type]
    prefix = f"{name}." if name else ""
    for key in content:
        expect(key in declared, f"{prefix}{shorten(key)}", "no such field", content[key])
    required = {one.name for one in fields(declaration) if one.default is MISSING}  # type: ignore[arg-type]
    for key in declared:
        expect(key in content or key not in required, f"{prefix}{key}", "a value", None)
    found = {key: one for key, one in declared.items() if key in content}
    return declaration(**{key: one.read(content[key], f"{prefix}{key}") for key, one in found.items()})


def write_fields(instance: Any) -> dict[str, Any]:
    """The JSON object of an instance of a dataclass whose fields are declared, without those that are as by default."""
    values_of = ((one, getattr(instance, one.name)) for one in fields(instance))
    return {one.name: one.metadata[TYPE].write(value) for one, value in values_of if value != one.default}
