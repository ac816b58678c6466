"""Responses: values as JSON, errors as one line with a status, and what a browser may keep of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request, Response

from antipodes.service.library import NotThereError
from antipodes.service.limits import TooManyError, TooMuchError
from antipodes_tasks.errors import (
    AntipodesError,
    InputError,
    NumberError,
    ResourceLimitError,
    SourceError,
    StoreError,
    UnfinishedError,
    UnreachableError,
)
from antipodes_tasks.quoting import quote

JSON = "application/json"
BY_ERROR: tuple[tuple[type[BaseException], int], ...] = (
    (NotThereError, 404),
    (NumberError, 404),
    (TooManyError, 429),
    (TooMuchError, 413),
    (ResourceLimitError, 413),
    (SourceError, 503),
    (StoreError, 503),
    (InputError, 400),
    (UnfinishedError, 400),
    (UnreachableError, 400),
    (AntipodesError, 503),
    (MemoryError, 503),
    (OSError, 503),
)
"""The status of each kind of error; the first that fits counts."""
BY_STATUS = {404: "there is nothing at this address", 405: "expected another method at this address"}


def json_bytes(value: Any) -> bytes:
    """A value as JSON, in ASCII: names may have characters that no encoding has."""
    return json.dumps(value, separators=(",", ":")).encode()


def error_body(message: str) -> bytes:
    """The body of a response that is an error: one line."""
    return json_bytes({"error": " ".join(message.split())})


def error_response(message: str, status: int) -> Response:
    """An error as a response."""
    return Response(error_body(message), status, {"cache-control": "no-store"}, JSON)


def response_to_error(error: BaseException) -> Response:
    """The response that says what is wrong; a defect of the service is one line, too, without a traceback."""
    for kind, status in BY_ERROR:
        if isinstance(error, kind):
            return error_response(str(error) or kind.__name__, status)
    return error_response(f"unexpected {type(error).__name__}: this is a defect of the service", 500)


def response_to_status(status: int) -> Response:
    """The response of a status that the framework has found, such as that no route fits."""
    return error_response(BY_STATUS.get(status, f"the request failed with status {status}"), status)


def response_to_invalid(errors: Sequence[Mapping[str, Any]]) -> Response:
    """The response to parameters or a body that are not what was expected: the first of them."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    expected = str(first["msg"]).removeprefix("Input should be ").removeprefix("a ")
    if first["type"] == "missing":
        return error_response(f"{where}: expected a value, found none", 400)
    if first["type"] == "json_invalid":
        return error_response("body: expected JSON, found something else", 400)
    if str(first["type"]).startswith("too_long"):
        return error_response(f"{where}: {expected}", 413)
    return error_response(f"{where}: expected {expected}, found {quote(first.get('input'))}", 400)


def kept_by_version(version: str) -> dict[str, str]:
    """The headers with which a browser may keep an answer, but asks whether it is still of this version."""
    return {"cache-control": "no-cache", "etag": f'"{version}"'}


def is_known(request: Request, version: str) -> bool:
    """Whether the browser has the answer of this version already."""
    known = request.headers.get("if-none-match", "")
    return f'"{version}"' in (tag.strip().removeprefix("W/") for tag in known.split(","))
