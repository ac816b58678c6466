"""Hooks for MkDocs that build the navigation and add pages to the site.

The pages in ``docs`` stay plain Markdown. The hooks add the pages in the root folder of the repository, an API page and
the gallery of the atlas. They also rewrite links to files outside ``docs``.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

import antipodes
from antipodes.drawing.boards import Sprites
from antipodes.drawing.markup import Html, element
from antipodes.puzzles.config import load_config
from workshop.atlas.entries import CHAPTERS
from workshop.atlas.results import read_results

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TITLES = {
    "README": "Read me",
    "CHANGELOG": "Changes",
    "CONTRIBUTING": "Contribute",
    "CODE_OF_CONDUCT": "Code of conduct",
    "SECURITY": "Security",
}
PAGES = {ROOT / f"{name}.md": f"project/{name.lower().replace('_', '-')}.md" for name in TITLES}
"""Pages in the root folder of the repository, and their paths on the site."""
SOURCE = "https://example.org/antipodes/tree/main"
"""URL of the repository's folders; this is a placeholder."""
LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)\s#]+)")
ENTRY = re.compile(r"^\| \*\*(?P<kind>.+?)\*\* \||\[(?P<title>[^]]+)\]\((?P<page>[^)#]+)\)", re.MULTILINE)
"""Pattern of a heading or a link in the table of ``docs/index.md``."""
API_PAGE = "reference/api.md"
API = """# Python, in full

The docstrings of all names in `antipodes`. [Python](python.md) lists the same names in tables, with examples.
"""
CARD = 150
"""Side of a square picture in the gallery, in pixels."""


def on_config(config: Any) -> Any:
    """Build the navigation from the table of ``docs/index.md``, which lists the pages by kind."""
    kinds: dict[str, list[dict[str, str]]] = {}
    table = (DOCS / "index.md").read_text(encoding="utf-8").partition("\n| ")[2]
    for found in ENTRY.finditer(table):
        if found["kind"]:
            pages = kinds.setdefault(found["kind"], [])
        elif found["page"] != "atlas.md":
            pages.append({found["title"][0].upper() + found["title"][1:]: found["page"]})
    kinds["Reference"].append({"Python, in full": API_PAGE})
    start = ["index.md", *({title: PAGES[ROOT / f"{name}.md"]} for name, title in TITLES.items())]
    config.nav = [{"Start": start}, *({kind: pages} for kind, pages in kinds.items()), {"Atlas": ["atlas.md"]}]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and linked files outside ``docs``, and the generated pages."""
    for path, address in PAGES.items():
        files.append(File.generated(config, address, content=path.read_text(encoding="utf-8")))
    for path in sorted(_linked_files()):
        files.append(File.generated(config, _address(path), abs_src_path=str(path)))
    files.append(File.generated(config, API_PAGE, content=_api()))
    files.append(File.generated(config, "site.css", abs_src_path=str(Path(__file__).with_name("site.css"))))
    return files


def _sources() -> dict[str, Path]:
    """Return the Markdown files by their paths on the site."""
    pages = {path.relative_to(DOCS).as_posix(): path for path in DOCS.rglob("*.md")}
    return {**pages, **{address: path for path, address in PAGES.items()}}


def _linked_files() -> set[Path]:
    """Return the files outside ``docs`` that a page links to, except pages."""
    found = set()
    for path in _sources().values():
        for _, link in LINK.findall(path.read_text(encoding="utf-8")):
            target = (path.parent / link).resolve()
            if target.is_file() and not target.is_relative_to(DOCS) and target not in PAGES:
                found.add(target)
    return found


def _address(target: Path) -> str:
    """Return the path on the site of a file or page."""
    if target.is_relative_to(DOCS):
        return target.relative_to(DOCS).as_posix()
    return PAGES.get(target) or f"files/{target.relative_to(ROOT).as_posix()}"


def _api() -> str:
    return API + "".join(f"\n::: antipodes.{name}\n" for name in antipodes.__all__ if not name.startswith("_"))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the text of a page with the links and the additional text of the site."""
    name = page.file.src_uri
    source = _sources().get(name)
    if source is None:
        return markdown
    text = _linked(markdown, source, name)
    if name == "index.md":
        readme = ROOT / "README.md"
        beginning, _, _ = readme.read_text(encoding="utf-8").partition("\n## Does my puzzle fit?")
        return f"{_linked(beginning, readme, name)}\n{text.replace('# Documentation', '## Documentation', 1)}"
    return text.replace("\n| puzzle |", f"\n{gallery()}\n\n| puzzle |", 1) if name == "atlas.md" else text


def _linked(text: str, source: Path, name: str) -> str:
    """Return the text of a file with its links rewritten for the page ``name``."""

    def link(found: re.Match[str]) -> str:
        target = (source.parent / found[2]).resolve()
        if target.is_dir():
            return f"{found[1]}{SOURCE}/{target.relative_to(ROOT).as_posix()}"
        return found[1] + os.path.relpath(_address(target), Path(name).parent)

    return LINK.sub(link, text)


def gallery() -> Html:
    """Return the gallery: a card with an antipode and the figures of each puzzle of the atlas."""
    results, sprites = read_results(), Sprites()
    cards = []
    for name in (name for chapter in CHAPTERS.values() for name in chapter):
        result, puzzle = results.puzzles[name], load_config(name).puzzle
        picture = puzzle.picture(puzzle.parse(result.antipode))
        cards.append(
            element(
                "a",
                sprites.board(picture, CARD, f"an antipode of {name}"),
                element("b", name),
                element("span", f"{result.states:,} positions, radius {result.radius:,}"),
                href=f"#{name}",
            )
        )
    return element("div", sprites.definitions(), *cards, class_="atlas-gallery")
