"""Addresses as users write them: of stores, which are paths or the URLs of object stores, and of dask schedulers."""

import re
import shlex
from pathlib import Path

from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import quote

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
SCHEDULER_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([\w.-]+|\[[0-9A-Fa-f:.]+(%\w+)?\]):(?P<port>[0-9]{1,5})/?")
LARGEST_PORT = 65535

Address = Path | str
"""A path, or a URL as a string."""


def argument(address: Address) -> str:
    """Return the address as an argument that no command mistakes for an option."""
    return f"./{address}" if str(address).startswith("-") else str(address)


def in_shell(address: Address) -> str:
    """Return the address as the user types it after a command."""
    return quoted_word(argument(address))


def quoted_word(word: str) -> str:
    """Return the word quoted for a shell. Control characters are escaped in the form ``$'...'``."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_in_dollar_quotes, word))}'"


def _in_dollar_quotes(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    of_a_byte = "\udc80" <= character <= "\udcff"  # represents a byte of a file name that is not UTF-8
    return "".join(
        f"\\{byte:03o}" for byte in character.encode(errors="surrogateescape" if of_a_byte else "surrogatepass")
    )


def is_url(text: Address) -> bool:
    """Return whether the address is a URL and not a path."""
    return isinstance(text, str) and URL.match(text) is not None


def address_from(text: str) -> Address:
    """Convert the user's text to an address: a URL stays a string, since a path would drop one of its slashes."""
    return text if is_url(text) else Path(text)


def check_scheduler_name(name: str) -> None:
    """Raise InputError unless a name is threads, local or a possible address of a dask scheduler."""
    if name not in ("threads", "local"):
        check_scheduler_address(name, option("scheduler"), "threads, local or ")


def check_scheduler_address(address: str, where: str, others: str = "") -> None:
    """Raise InputError unless a text is a possible address of a dask scheduler; the message begins with ``where``."""
    found = SCHEDULER_ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) <= LARGEST_PORT:
        raise InputError(f"{where}: expected {others}an address such as tcp://host:8786, found {quote(address)}")
