"""Elements of HTML: text stays text."""

import xml.etree.ElementTree as ET
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from antipodes.drawing.markup import Html, element, joined, table


class Reader(HTMLParser):
    """The elements and the texts of a page, as a browser sees them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[str | None] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


printable = st.text().map(lambda text: "".join(one if one.isprintable() else "\ufffd" for one in text))


@given(printable, printable)
def test_any_text_is_text(content: str, attribute: str) -> None:
    seen = Reader(element("p", content, title=attribute))
    assert seen.tags == ["p"]
    assert ("".join(seen.texts), seen.attributes) == (content, [attribute])


@given(st.text())
def test_any_text_is_well_formed_xml(content: str) -> None:
    """Pictures are read by other programs, too, and XML allows no control characters."""
    written = element("text", content, class_=content)
    if not any(0xD800 <= ord(one) < 0xE000 for one in content):
        assert ET.fromstring(written).tag == "text"


def test_characters_that_turn_text_around_are_replaced() -> None:
    assert element("p", "a\u202eb\x00c") == "<p>a\ufffdb\ufffdc</p>"


def test_elements_within_elements() -> None:
    inner = element("b", "1 < 2")
    assert element("p", inner, " & more", class_="x", aria_hidden="true", id=None) == (
        '<p class="x" aria-hidden="true"><b>1 &lt; 2</b> &amp; more</p>'
    )
    assert element("rect", width=2) == '<rect width="2"/>'
    assert joined(["<", Html("<br/>")], "-") == "&lt;-<br/>"


def test_table() -> None:
    written = table(("depth", "<n>"), [("0", "1"), ("1", "2")])
    assert written.count("<tr>") == 3
    assert Reader(written).texts == ["depth", "<n>", "0", "1", "\n", "1", "2"]
