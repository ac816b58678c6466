"""Names of schedulers: threads, local, or an address."""

import re

from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import quote

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([\w.-]+|\[[0-9A-Fa-f:.]+(%\w+)?\]):(?P<port>[0-9]{1,5})/?")
LARGEST_PORT = 65535


def check_scheduler_name(name: str) -> None:
    """Raise InputError unless a name is threads, local or a possible address of a dask scheduler."""
    if name not in ("threads", "local"):
        check_address(name, "--scheduler", "threads, local or ")


def check_address(address: str, where: str, others: str = "") -> None:
    """Raise InputError, beginning with ``where``, unless a text is a possible address of a dask scheduler."""
    found = ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) <= LARGEST_PORT:
        raise InputError(f"{where}: expected {others}an address such as tcp://host:8786, found {quote(address)}")
