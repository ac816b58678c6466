"""Checks of the arguments of public functions. Each check returns the value in the type that the function works with.

Numbers may be Python or numpy numbers, in lists, ranges or arrays, and a scalar may be an array of dimension zero.
Floats, booleans, strings, masked arrays and object arrays are not accepted as integers: numpy would convert most of
them silently.
"""

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import ArgumentTypeError, InputError
from antipodes_tasks.base.quoting import quote, shorten

T = TypeVar("T")
MAX_INT64 = int(np.iinfo(np.int64).max)
"""Maximum of a signed 64-bit integer."""
MAX_RANGE = 1 << 27
"""Maximum length of a range that is converted to an array, which then takes 1 GiB. Ranges can have any length."""


def integer(
    value: object,
    what: str,
    minimum: int | None = None,
    maximum: int | None = None,
    error: type[InputError] = InputError,
) -> int:
    """Return the integer as a Python integer if it is from ``minimum`` to ``maximum``.

    Raises
    ------
    ArgumentTypeError
        The value is not an integer. No float is accepted, whatever its value.
    InputError
        The integer is out of range. The error has the type ``error``.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0 and not isinstance(value, np.ma.MaskedArray):
        value = value[()]
    if isinstance(value, bool) or not (isinstance(value, int) or _is_numpy_integer(value)):
        raise ArgumentTypeError(f"expected {what} as an integer, found {found(value)}")
    number: int = int(value)  # type: ignore[call-overload]
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        raise error(f"expected {what} {_range(minimum, maximum)}, found {quote(number)}")
    return number


def integers(
    values: object, what: str, dimensions: int, error: type[InputError] = ArgumentTypeError
) -> NDArray[np.integer[Any]]:
    """Return the integers as an array with this number of dimensions and their original integer type.

    An empty list is accepted. All values must fit in signed 64-bit integers.

    Raises
    ------
    InputError
        The values are something else, or rows have different lengths. The error has the type ``error``.
    """
    array = _array(values, what, error)
    if array.ndim != dimensions:
        raise error(f"expected {what}, found {_shape(array, values)}")
    if array.size and array.dtype.kind not in "iu":
        raise error(f"expected {what} of integers, found {array.dtype}")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and int(array.max()) > MAX_INT64:
        raise error(f"expected {what} of integers below 2^63, found {array.max()}")
    return array if array.dtype.kind in "iu" else np.zeros(array.shape, dtype=np.int64)


def number(value: object, what: str, minimum: float = -math.inf) -> float:
    """Return the number, which may be infinite, if it is at least ``minimum``; errors as in `integer`."""
    if isinstance(value, float | np.floating):
        if not value >= minimum:  # false for NaN, too
            raise InputError(f"expected {what} of at least {minimum:g}, found {value}")
        return float(value)
    return float(integer(value, what, None if minimum == -math.inf else math.ceil(minimum), MAX_INT64))


def few(values: object, max_count: int, what: str) -> object:
    """Return the values of an iterable, which may be endless, as a list; other values are returned unchanged.

    Raises InputError if there are more than ``max_count``.
    """
    if isinstance(values, list | tuple | np.ndarray) or not isinstance(values, Iterable):
        return values
    listed = list(islice(values, max_count + 1))
    if len(listed) > max_count:
        raise InputError(f"expected at most {max_count:,} {what}, found more")
    return listed


def generator(value: object, what: str) -> "np.random.Generator":  # numpy imports numpy.random only when it is used
    """Return the random generator, or a new one from a seed (a nonnegative integer, or None for a random seed)."""
    return value if isinstance(value, np.random.Generator) else np.random.default_rng(optional(value, integer, what, 0))


def flag(value: object, what: str) -> bool:
    """Return the boolean; raise ArgumentTypeError if the value is anything else, including a number."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(f"expected {what} as True or False, found {found(value)}")
    return bool(value)


def text(value: object, what: str, error: type[InputError] = ArgumentTypeError) -> str:
    """Return the string; raise ``error`` if the value is anything else."""
    if not isinstance(value, str):
        raise error(f"expected {what} as a string, found {found(value)}")
    return value


def choice(value: object, what: str, choices: Sequence[str]) -> str:
    """Return the string if it is one of the choices; otherwise raise InputError."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"expected {what} of {', '.join(choices)}; found {found(value)}")
    return value


def instance(value: object, kind: type[T], what: str) -> T:
    """Return the value if it is an instance of the class; otherwise raise ArgumentTypeError."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"expected {what}, found {found(value)}")
    return value


def function(value: T, what: str) -> T:
    """Return the value if it is callable; otherwise raise ArgumentTypeError."""
    if not callable(value):
        raise ArgumentTypeError(f"expected {what} that can be called, found {found(value)}")
    return value


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return the mapping if its keys are strings; otherwise raise ArgumentTypeError."""
    checked = instance(value, Mapping, what)  # type: ignore[type-abstract]
    for key in checked:
        text(key, f"the keys of {what}")
    return checked


def path_or_text(value: object, what: str) -> Path | str:
    """Return a string unchanged, or a path as a Path; raise ArgumentTypeError if the value is neither."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise ArgumentTypeError(f"expected {what} as a path or string, found {found(value)}")
    return value if isinstance(value, str) else Path(value)


def address(value: object, what: str) -> Path | str:
    """Return the address as `path_or_text` does; also raise InputError if it is empty or contains a null character."""
    checked = path_or_text(value, what)
    if not str(checked) or "\0" in str(checked):
        raise InputError(f"expected {what} as a path or string, found {found(str(checked))}")
    return checked


def optional(value: object, check: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
    """Return None if the value is None, otherwise the result of ``check`` for the value and the other arguments."""
    return None if value is None else check(value, *arguments, **options)


def found(value: object) -> str:
    """Describe an invalid value for a message: its class, and the value itself if it is short."""
    if value is None or isinstance(value, bool | np.bool_):
        return str(value)
    name = type(value).__name__
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bytes | int | float):
        return f"{name} {quote(value)}"
    if isinstance(value, np.generic):
        return f"{name} {shorten(str(value))}"
    if isinstance(value, np.ndarray):
        return f"{name} {value.shape} of {value.dtype}"
    return name


def _is_numpy_integer(value: object) -> bool:
    """Return whether the value is a numpy integer. Time spans, which numpy also counts as integers, are excluded."""
    return isinstance(value, np.integer) and not isinstance(value, np.timedelta64)


def _array(values: object, what: str, error: type[InputError]) -> NDArray[Any]:
    if isinstance(values, str | bytes | Mapping | set | frozenset) or values is None or _hides_other_types(values):
        raise error(f"expected {what} of integers, found {_culprit(values)}")
    if isinstance(values, range) and values[MAX_RANGE:]:
        raise error(f"expected {what}, found a range of more than {MAX_RANGE:,} numbers")
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        raise error(f"expected {what}, found rows of different lengths or no numbers") from None
    except MemoryError:
        raise error(f"expected {what}, found more numbers than fit into memory") from None


def _hides_other_types(values: object) -> bool:
    """Return whether an array of the values would hide that some of them are booleans or masked."""
    if isinstance(values, list | tuple):
        return any(map(_hides_other_types, values))
    if isinstance(values, bool | np.bool_):
        return True
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)  # importing numpy.ma takes 20 ms


def _culprit(values: object) -> str:
    if isinstance(values, list | tuple):
        return _culprit(next(filter(_hides_other_types, values)))
    return found(values)


def _shape(array: NDArray[Any], values: object) -> str:
    return found(values) if array.ndim == 0 else f"an array {array.shape}"


def _range(minimum: int | None, maximum: int | None) -> str:
    if maximum is None:
        return f"of at least {minimum}"
    return f"of at most {maximum}" if minimum is None else f"from {minimum} to {maximum}"
