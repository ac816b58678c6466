"""The option ``method`` of a search for tilings."""

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.exact_cover.partitions import METHODS


def checked_method(method: object) -> str | None:
    """The method, None for the default; InputError if there is no such method."""
    if method is None or (isinstance(method, str) and method in METHODS):
        return method
    raise InputError(f"--method: expected {' or '.join(METHODS)}, found {arguments.found(method)}")
