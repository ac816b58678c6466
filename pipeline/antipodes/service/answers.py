"""Responses: values as JSON, errors as one line with a status, and what a browser may keep of them."""

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from secrets import token_hex
from typing import Any

from fastapi import Request, Response

from antipodes.service.drawing import Drawn
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
from antipodes_tasks.quoting import quote, shorten

JSON = "application/json"
PLACE = token_hex(16)
"""Stands for a picture until its text is put there; no text of a store can be the same."""
MIN_COMPRESSED_BYTES = 1 << 19
"""Bytes from which a response is compressed, such as that of a graph: moves are answered at once."""
COMPRESSION = 5
GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
"""Finds that a request accepts this compression."""
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
BY_STATUS = {
    400: "body: expected JSON, found other bytes",
    404: "there is nothing at this address",
    405: "expected another method at this address",
}
EXPECTED = {
    "missing": "a value",
    "too_long": "at most {max_length}",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "less_than": "less than {lt}",
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "an object",
    "model_attributes_type": "an object",
}
"""What a parameter or a body should be, by the kind of the error that the framework finds."""


def json_bytes(value: Any) -> bytes:
    """A value, which may have pictures in it, as JSON in ASCII: names may have characters that no encoding has."""
    pictures: list[str] = []

    def place_of(picture: Drawn) -> str:
        pictures.append(picture.text)
        return PLACE

    between = json.dumps(value, separators=(",", ":"), default=place_of).split(f'"{PLACE}"')
    return "".join(chain.from_iterable(zip(between, [*pictures, ""], strict=True))).encode()


def error_body(message: str) -> bytes:
    """The body of a response that is an error: one line."""
    return json_bytes({"error": " ".join(message.split())})


def error_response(message: str, status: int) -> Response:
    """An error as a response."""
    return Response(error_body(message), status, headers_of_error(status), JSON)


def headers_of_error(status: int) -> dict[str, str]:
    """No browser keeps an error; one that comes of too many requests may be gone in a second."""
    return {"cache-control": "no-store"} | ({"retry-after": "1"} if status == 429 else {})


def response_to_error(error: BaseException) -> Response:
    """The response that says what is wrong; a defect of the service is one line, too, without a traceback."""
    for kind, status in BY_ERROR:
        if isinstance(error, kind):
            return error_response(str(error) or kind.__name__, status)
    return error_response(unexpected(error), 500)


def unexpected(error: BaseException) -> str:
    """What a person reads about a defect of the service."""
    found = f"{type(error).__name__}: {shorten(str(error))}"
    return f"unexpected {found}; this is a defect of the service, and the stores are safe"


def response_to_status(status: int) -> Response:
    """The response of a status that the framework has found, such as that no route fits."""
    return error_response(BY_STATUS.get(status, f"the request failed with status {status}"), status)


def response_to_invalid(errors: Sequence[Mapping[str, Any]]) -> Response:
    """The response to parameters or a body that are not what was expected: the first of them."""
    first = errors[0]
    kind, place = str(first["type"]), [str(part) for part in first["loc"]]
    if kind == "json_invalid":
        return response_to_status(400)
    where = ".".join(place[1:]) or place[0]
    expected = EXPECTED.get(kind, "another value").format(**first.get("ctx", {}))
    if kind == "too_long":
        return error_response(f"{where}: expected {expected}, found {first['ctx']['actual_length']}", 413)
    found = "none" if kind == "missing" else quote(first.get("input"))
    return error_response(f"{where}: expected {expected}, found {found}", 400)


def compressed(request: Request, response: Response) -> Response:
    """A response of LONG bytes or more, compressed if the browser takes that: in the thread that has computed it."""
    content = bytes(response.body)
    if len(content) < MIN_COMPRESSED_BYTES:
        return response
    headers = {**response.headers, "vary": "accept-encoding"}
    if GZIP.search(request.headers.get("accept-encoding", "")):
        content, headers["content-encoding"] = gzip.compress(content, COMPRESSION), "gzip"
    headers["content-length"] = str(len(content))
    return Response(content, headers=headers)


def kept_by_version(version: str) -> dict[str, str]:
    """The headers with which a browser may keep an answer, but asks whether it is still of this version."""
    return {"cache-control": "no-cache", "etag": f'"{version}"'}


def is_known(request: Request, version: str) -> bool:
    """Whether the browser has the answer of this version already."""
    known = request.headers.get("if-none-match", "")
    return f'"{version}"' in (tag.strip().removeprefix("W/") for tag in known.split(","))
