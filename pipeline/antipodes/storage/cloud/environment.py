"""The environment variables of obstore, checked before obstore reads them, since it panics at some values."""

import os
import re

from antipodes_tasks.errors import InputError

ENDPOINTS = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "az": ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
}
"""The variables with the URL of a server, by the scheme of a store's URL."""
ENDPOINT = re.compile(
    r"https?://([\w.-]+|\[[0-9a-f:.]+\])(:(?P<port>\d{1,5}))?(/[\w.~%+/-]*)?", re.ASCII | re.IGNORECASE
)
SENT_AS_HEADERS = {"s3": "AWS_", "az": "AZURE_"}
"""The prefix of the variables whose values go into the headers of requests unchanged."""
LARGEST_PORT = 65535


def check_environment(scheme: str) -> None:
    """Raise InputError, which shows no secret, where a variable cannot be used for stores of this scheme."""
    for name in ENDPOINTS.get(scheme, ()):
        if name in os.environ and not _is_endpoint(os.environ[name]):
            raise InputError(f"{name}: expected a URL such as https://host:9000, found {_shown(os.environ[name])}")
    prefix = SENT_AS_HEADERS.get(scheme)
    for name, value in os.environ.items():
        if prefix and name.startswith(prefix) and not value.isprintable():
            raise InputError(f"{name}: expected printable characters, found others, such as a line break")


def allows_http(scheme: str) -> bool:
    """Whether a variable asks for a server without encryption."""
    return any(os.environ.get(name, "").lower().startswith("http://") for name in ENDPOINTS.get(scheme, ()))


def _is_endpoint(text: str) -> bool:
    found = ENDPOINT.fullmatch(text)
    return found is not None and 0 < int(found["port"] or 1) <= LARGEST_PORT


def _shown(text: str) -> str:
    """The text as messages show it, without anything that may be a password."""
    return "one with a user or a password" if "@" in text else repr(text[:80])
