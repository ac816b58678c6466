"""The page of a report: the parts that all kinds of stores have in common, and writing the page to a file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from antipodes.drawing.boards import Sprites
from antipodes.drawing.markup import Html, definitions, element, joined
from antipodes.drawing.picture import Picture
from antipodes.system.output_files import output_file
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote

STYLE = Path(__file__).with_name("page.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Content security policy: apart from its own style, the page may load nothing."""
ENDINGS = (".html", ".htm")
HEADER_SIDE, GALLERY_SIDE, PATH_SIDE = 260, 150, 92
"""Side in pixels of a square board in the header, in a gallery, and on a path."""
ENLARGED = 2.0
"""Maximum scale of the board in the header."""
LONGEST_DEFINITION = 50_000
"""Maximum number of characters of a definition that are shown."""


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    heading: str
    about: str
    """Introduction of a sentence or two, as a string or an element."""
    content: Sequence[Html]


@dataclass(frozen=True)
class Page:
    """A report without its date."""

    kind: str
    """Subject of the report, in one to three words."""
    name: str
    description: str
    state: str | None
    """A remark that comes first, or None if the store is finished."""
    picture: Html
    facts: Sequence[tuple[str, str]]
    """Numbers as text, each with a description of what it counts, in order of importance."""
    sections: Sequence[Section]


def check_output(path: Path) -> None:
    """Raise InputError unless the file name is that of an HTML page."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"output: expected a file name ending in .html, found {quote(str(path))}")


def write(path: Path, page: Page, sprites: Sprites) -> None:
    """Write the page to a file, replacing an existing one; raise StoreError if the file cannot be written."""
    content = format_page(page, sprites).encode(errors="backslashreplace")
    with output_file(path) as file:
        file.write(content)


def format_page(page: Page, sprites: Sprites) -> str:
    """Return the page as one HTML document; ``sprites`` are the shapes of all its boards."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{page.name}: {page.kind}"),
        element("style", Html(STYLE.read_text(encoding="utf-8"))),
    )
    main = element("main", _header(page), *map(_section, page.sections))
    body = element("body", sprites.definitions(), main, _footer())
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _header(page: Page) -> Html:
    words = [element("p", page.kind, class_="kind"), element("h1", page.name)]
    if page.description:
        words.append(element("p", page.description, class_="lead"))
    if page.state is not None:
        words.append(element("p", page.state, class_="state"))
    facts = definitions(((name, element("b", value)) for value, name in page.facts), class_="facts")
    return element("header", element("div", *words), page.picture, facts)


def _section(section: Section) -> Html:
    about = element("p", section.about, class_="about")
    return element("section", element("h2", section.heading), about, *section.content)


def _footer() -> Html:
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return element("footer", f"Made {made} with antipodes {version('antipodes')}, Python {python_version()}")


def figure(drawing: Html, caption: str, note: str = "") -> Html:
    """Return a drawing with a caption below it, and a note, if any, below the caption."""
    parts = [element("b", caption)] if caption else []
    return element("figure", drawing, element("figcaption", *parts, *([element("span", note)] if note else [])))


def gallery(figures: Iterable[Html], class_: str = "gallery") -> Html:
    """Return figures side by side, in as many rows as they need."""
    return element("div", joined(figures, "\n"), class_=class_)


def start(sprites: Sprites, picture: Picture, caption: str) -> Html:
    """Return a picture with its caption for the header."""
    return figure(sprites.board(picture, HEADER_SIDE, caption, ENLARGED), "", caption)


def code(text: str) -> Html:
    """Return text for copying, shortened to its beginning if it is long."""
    shown = text if len(text) <= LONGEST_DEFINITION else f"{text[:LONGEST_DEFINITION]}\n... {len(text):,} characters"
    return element("pre", element("code", shown), tabindex=0)


def commands(*lines: str) -> Html:
    """Return commands for a shell."""
    return code("\n".join(lines))


def format_time(when: datetime | None) -> str:
    """Return a time as text."""
    return "unknown" if when is None else f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
