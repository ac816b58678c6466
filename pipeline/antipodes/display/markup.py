"""HTML elements. Text is text: only what `element` made is markup, so that no name can become any."""

from collections.abc import Iterable, Sequence
from html import escape

EMPTY_TAGS = frozenset({"br", "hr", "img", "line", "link", "meta", "path", "rect", "use"})
"""Elements without an end tag: those of HTML, and those of SVG that never have content here."""
UNPRINTABLE = "\ufffd"
"""Shown in place of characters that control how a text is displayed, such as an override of its direction."""


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: object) -> Html:
    """An element around some content, texts or elements.

    Attributes are named as in HTML, with ``_`` for ``-`` and at the end of Python's own words (``class_``); those that
    are None are left out.
    """
    named = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items() if value is not None)
    begin = "".join([tag, *(f' {name}="{_text(str(value))}"' for name, value in named)])
    if tag in EMPTY_TAGS:
        return Html(f"<{begin}/>")
    return Html(f"<{begin}>{joined(content)}</{tag}>")


def joined(content: Iterable[str], between: str = "") -> Html:
    """Texts and elements one after another."""
    return Html(between.join(part if isinstance(part, Html) else _text(part) for part in content))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """A table of texts or elements."""
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = (element("tr", *(element("td", cell) for cell in row)) for row in rows)
    return element("table", element("thead", head), element("tbody", joined(body, "\n")))


def definitions(values: Iterable[tuple[str, str]], **attributes: object) -> Html:
    """A list of names and their values."""
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in values)
    return element("dl", joined(pairs, "\n"), **attributes)


def _text(text: str) -> str:
    shown = (one if one.isprintable() or one in "\n\t" else UNPRINTABLE for one in text)
    return escape("".join(shown))
