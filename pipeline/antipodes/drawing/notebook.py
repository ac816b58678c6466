"""Results displayed in a notebook; colours follow the text colour, for light and dark backgrounds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from antipodes.drawing.boards import Sprites
from antipodes.drawing.charts import distribution
from antipodes.drawing.markup import Html, element
from antipodes.drawing.picture import Picture

FRAME = "font:14px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums;padding:6px 2px"
ROW = "display:flex;flex-wrap:wrap;align-items:center"
PAPER = "background:#fff;padding:4px;border-radius:6px;line-height:0;width:fit-content"
"""White background of pictures."""
QUIET = "opacity:.7;overflow-wrap:anywhere"
CAPTION = f"{QUIET};font-size:12px;text-align:center;margin-top:2px"
CHART_HEIGHT = 150


@dataclass(frozen=True)
class Shown:
    """A result that is HTML in a notebook and text on a terminal."""

    text: str
    html: Html

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def card(
    title: str, lines: Iterable[str], pictures: Iterable[Picture], size: float, layers: Sequence[int] = ()
) -> Html:
    """Return a result: pictures of a ``size``, a title, lines of text, and a chart of the layers if there are any."""
    about = element(
        "div",
        element("div", title, style="font-size:17px;font-weight:600;overflow-wrap:anywhere"),
        *(element("div", line, style=QUIET) for line in lines),
        style="flex:1 1 14em;max-width:24em",
    )
    sprites = Sprites(alone=False)
    parts = [*(_on_paper(sprites, picture, size, title) for picture in pictures), about]
    if layers:
        parts.append(element("div", distribution(layers, height=CHART_HEIGHT), style="width:340px;max-width:100%"))
    return element("div", *parts, sprites.definitions(), style=f"{FRAME};{ROW};gap:16px 32px")


def figures(title: str, pictures: Iterable[tuple[Picture, str]], size: float) -> Html:
    """Return pictures side by side under a title, each with a caption below it."""
    sprites = Sprites(alone=False)
    shown = [
        element("div", _on_paper(sprites, picture, size, caption), element("div", caption, style=CAPTION))
        for picture, caption in pictures
    ]
    row = element("div", *shown, style=f"{ROW};gap:10px;padding-top:6px")
    return element("div", element("div", title, style=QUIET), row, sprites.definitions(), style=FRAME)


def _on_paper(sprites: Sprites, picture: Picture, size: float, label: str) -> Html:
    return element("div", sprites.board(picture, size, label), style=PAPER)
