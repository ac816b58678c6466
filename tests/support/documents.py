"""The pages of the documentation: their fenced blocks, console sessions, headings and links."""

import re
import tomllib
from pathlib import Path

from project import DOCS, README, ROOT

PAGES = sorted(DOCS.rglob("*.md"))
ALL_PAGES = [README, *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT")), *PAGES]


def page_name(page: Path) -> str:
    """Return a page's path as a name for test reports."""
    return page.name if page.parent == ROOT else page.relative_to(DOCS).as_posix()


def blocks(text: str, language: str) -> list[str]:
    """Return the contents of the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def sessions(text: str) -> list[tuple[str, str]]:
    """Return each command of the console blocks, and the output that the page shows."""
    found = [re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] for block in blocks(text, "console")]
    return [(step.partition("\n")[0], step.partition("\n")[2]) for session in found for step in session]


def matches(expected: str, found: str) -> bool:
    """Return whether the output matches; `...` matches any text, and a line with only `...` matches any lines."""
    lines = [_pattern(line) for line in expected.splitlines()]
    return re.fullmatch("".join(lines), found) is not None


def _pattern(line: str) -> str:
    return "(?:.*\n)*?" if line == "..." else ".*".join(re.escape(part) for part in line.split("...")) + "\n"


def write_files(text: str) -> None:
    """Save the files that a page's commands use: configs as NAME.toml, and Python that begins with ``# NAME.py``."""
    for block in blocks(text, "toml"):
        (table,) = (table for key, table in tomllib.loads(block).items() if key not in ("run", "solve"))
        Path(f"{table['name']}.toml").write_text(block, encoding="utf-8")
    for block in blocks(text, "python"):
        if named := re.match(r"# (\w+\.py)\n", block):
            Path(named[1]).write_text(block, encoding="utf-8")


def without_numbers(line: str) -> str:
    """Return a line of output with N for each number and size, and without its time stamp."""
    return re.sub(r"[\d.,]*\d( [KM]iB)?", "N", re.sub(r"^(antipodes: )?\d{4}-\d\d-\d\d [\d:]{8} ", r"\1", line.strip()))


def anchors(text: str) -> set[str]:
    """Return the anchors of a page: its headings in lower case, joined by hyphens."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(text: str) -> list[tuple[str, str]]:
    """Return the path and the fragment of each link to a file or heading."""
    found = re.findall(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)", text)
    return [(path, fragment) for path, fragment in found]
