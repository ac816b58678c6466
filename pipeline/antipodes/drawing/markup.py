"""HTML elements. Strings are escaped: only the results of `element` are markup, so names cannot inject any."""

from collections.abc import Iterable, Sequence
from html import escape

EMPTY_TAGS = frozenset({"br", "hr", "img", "line", "link", "meta", "path", "rect", "use"})
"""HTML elements without an end tag, and SVG elements that never have content here."""
UNPRINTABLE = "\ufffd"
"""Replacement for characters that control how text is displayed, such as a directional override."""


class Html(str):
    """A string that is already markup."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: object) -> Html:
    """Return an element; its content is strings and other elements.

    Attributes are named as in HTML, with ``_`` for ``-``, and with a final ``_`` if the name is a Python keyword
    (``class_``). Attributes that are None are omitted.
    """
    named = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items() if value is not None)
    begin = "".join([tag, *(f' {name}="{_text(str(value))}"' for name, value in named)])
    if tag in EMPTY_TAGS:
        return Html(f"<{begin}/>")
    return Html(f"<{begin}>{joined(content)}</{tag}>")


def joined(content: Iterable[str], between: str = "") -> Html:
    """Return strings and elements, concatenated, with the text ``between`` any two of them."""
    return Html(between.join(part if isinstance(part, Html) else _text(part) for part in content))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """Return a table of strings or elements."""
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = (element("tr", *(element("td", cell) for cell in row)) for row in rows)
    return element("table", element("thead", head), element("tbody", joined(body, "\n")))


def definitions(values: Iterable[tuple[str, str]], **attributes: object) -> Html:
    """Return a list of names and their values."""
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in values)
    return element("dl", joined(pairs, "\n"), **attributes)


def _text(text: str) -> str:
    shown = (one if one.isprintable() or one in "\n\t" else UNPRINTABLE for one in text)
    return escape("".join(shown))
