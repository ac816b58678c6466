"""Numbers of bytes as a person reads and writes them."""

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import quote

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def human(size: float) -> str:
    """A number of bytes as a person reads it."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} PiB"


def memory_size(text: str | int) -> int:
    """Bytes from a number or a text such as ``800MB`` or ``1.5 GiB``; InputError where it is none."""
    from dask.utils import parse_bytes

    if not isinstance(text, str):
        return arguments.integer(text, "a memory limit in bytes or as text", 1, arguments.GREATEST)
    try:
        size = int(parse_bytes(text))
    except (ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"memory limit: expected a size such as 800MB or 2GiB, found {quote(text)}") from error
    if not 1 <= size <= arguments.GREATEST:
        raise InputError(f"memory limit: expected 1 to {arguments.GREATEST} bytes, found {quote(text)}")
    return size
