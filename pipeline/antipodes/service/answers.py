"""Responses: errors as one line with a status, and caching in the browser."""

import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response

from antipodes.service.encoded_answers import json_text
from antipodes.service.library import NotThereError
from antipodes.service.limits import TooManyError, TooMuchError
from antipodes_tasks.base.errors import (
    AntipodesError,
    InputError,
    NumberError,
    ResourceLimitError,
    SourceError,
    StoreError,
    UnfinishedError,
    UnreachableError,
)
from antipodes_tasks.base.quoting import quote, shorten

JSON = "application/json"
MIN_COMPRESSED_BYTES = 1 << 19
"""Minimum size of a response that is compressed, such as a graph; compression would only delay smaller ones."""
COMPRESSION = 5
GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
"""Pattern of the header ``Accept-Encoding`` of a request that accepts gzip."""
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
"""The status of each kind of error; the first match is used."""
BY_STATUS = {
    400: "body: not valid JSON",
    404: "there is nothing at this address",
    405: "this address does not support the request's method",
}
EXPECTED = {
    "too_long": "at most {max_length}",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "less_than": "less than {lt}",
    "string_type": "a string",
    "list_type": "a list",
    "dict_type": "an object",
    "model_attributes_type": "an object",
}
"""Description of the expected parameter or body for each kind of error that the framework reports."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error."""

    error: str
    """The message, in one line."""


def error_body(message: str) -> bytes:
    """Return the body of an error response: a message of one line."""
    return json_text(Failure(" ".join(message.split()))).encode()


def error_response(message: str, status: int) -> Response:
    """Return an error response."""
    return Response(error_body(message), status, headers_of_error(status), JSON)


def headers_of_error(status: int) -> dict[str, str]:
    """Return the headers of an error: do not cache it; after too many requests, try again in a second."""
    return {"cache-control": "no-store"} | ({"retry-after": "1"} if status == 429 else {})


def response_to_error(error: BaseException) -> Response:
    """Return the response to an error; a bug of the service is also reported in one line, without a traceback."""
    for kind, status in BY_ERROR:
        if isinstance(error, kind):
            return error_response(str(error) or kind.__name__, status)
    return error_response(unexpected(error), 500)


def unexpected(error: BaseException) -> str:
    """Return the message for a bug of the service."""
    found = f"{type(error).__name__}: {shorten(str(error))}"
    return f"internal error ({found}). This is a bug; the stores are safe"


def response_to_status(status: int) -> Response:
    """Return the response to a status that the framework reports, such as 404."""
    return error_response(BY_STATUS.get(status, f"the request failed with status {status}"), status)


def response_to_invalid(errors: Sequence[Mapping[str, Any]]) -> Response:
    """Return the response to invalid parameters or an invalid body; it reports the first error."""
    first = errors[0]
    kind, place = str(first["type"]), [str(part) for part in first["loc"]]
    if kind == "json_invalid":
        return response_to_status(400)
    where = ".".join(place[1:]) or place[0]
    expected = EXPECTED.get(kind, "another value").format(**first.get("ctx", {}))
    if kind == "too_long":
        return error_response(f"{where}: expected {expected}, found {first['ctx']['actual_length']}", 413)
    if kind == "missing":
        return error_response(f"{where}: this parameter is missing", 400)
    return error_response(f"{where}: expected {expected}, found {quote(first.get('input'))}", 400)


def compressed(request: Request, response: Response) -> Response:
    """Return the response, compressed if it has MIN_COMPRESSED_BYTES or more and the browser accepts gzip."""
    content = bytes(response.body)
    if len(content) < MIN_COMPRESSED_BYTES:
        return response
    headers = {**response.headers, "vary": "accept-encoding"}
    if GZIP.search(request.headers.get("accept-encoding", "")):
        content, headers["content-encoding"] = gzip.compress(content, COMPRESSION), "gzip"
    headers["content-length"] = str(len(content))
    return Response(content, headers=headers)


def kept_by_version(version: str) -> dict[str, str]:
    """Return headers that let a browser cache an answer, but check each time whether its version is current."""
    return {"cache-control": "no-cache", "etag": f'"{version}"'}


def is_known(request: Request, version: str) -> bool:
    """Return whether the browser already has this version of the answer."""
    known = request.headers.get("if-none-match", "")
    return f'"{version}"' in (tag.strip().removeprefix("W/") for tag in known.split(","))
