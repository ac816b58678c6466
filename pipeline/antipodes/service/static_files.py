"""The files of the page, which are part of the package. The list is fixed, so no request can name another path."""

import hashlib
from pathlib import Path

from fastapi import Request, Response

from antipodes.service.answers import is_known, kept_by_version, response_to_status

FOLDER = Path(__file__).parent / "static"
INDEX = "index.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
"""The media type of each kind of file; other files are not served."""

NO_PAGE = "<!doctype html><title>antipodes</title><p>There is no page yet: the API is at /api/v1/openapi.json"


def find_static_files() -> dict[str, Path]:
    """Return the files of the page by name; a name is a relative path with slashes."""
    found = (path for path in sorted(FOLDER.rglob("*")) if path.suffix in TYPES and path.is_file())
    return {path.relative_to(FOLDER).as_posix(): path for path in found}


def static_response(request: Request, files: dict[str, Path], name: str) -> Response:
    """Return the file with a name, or status 304 if the browser already has it."""
    if name not in files:
        return Response(NO_PAGE, media_type=TYPES[".html"]) if name == INDEX else response_to_status(404)
    content = files[name].read_bytes()
    version = hashlib.sha256(content).hexdigest()[:16]
    headers = kept_by_version(version)
    if is_known(request, version):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=TYPES[files[name].suffix])
