"""The pages of the documentation: their blocks, sessions, headings and links."""

import re
import tomllib
from pathlib import Path

from project import DOCS, README, ROOT

PAGES = sorted(DOCS.rglob("*.md"))
ALL_PAGES = [README, *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT")), *PAGES]


def page_name(page: Path) -> str:
    """The path of a page as test reports show it."""
    return page.name if page.parent == ROOT else page.relative_to(DOCS).as_posix()


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def sessions(text: str) -> list[tuple[str, str]]:
    """Each command of the console blocks, and its output as the page shows it."""
    found = [re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] for block in blocks(text, "console")]
    return [(step.partition("\n")[0], step.partition("\n")[2]) for session in found for step in session]


def matches(expected: str, found: str) -> bool:
    """Whether the output is as shown; three dots stand for any text, alone on a line for any lines."""
    lines = [_pattern(line) for line in expected.splitlines()]
    return re.fullmatch("".join(lines), found) is not None


def _pattern(line: str) -> str:
    return "(?:.*\n)*?" if line == "..." else ".*".join(re.escape(part) for part in line.split("...")) + "\n"


def write_files(text: str) -> None:
    """Save the configs of a page as NAME.toml, and Python that begins with ``# NAME.py``, as its commands expect."""
    for block in blocks(text, "toml"):
        (table,) = (table for key, table in tomllib.loads(block).items() if key not in ("run", "solve"))
        Path(f"{table['name']}.toml").write_text(block, encoding="utf-8")
    for block in blocks(text, "python"):
        if named := re.match(r"# (\w+\.py)\n", block):
            Path(named[1]).write_text(block, encoding="utf-8")


def without_numbers(line: str) -> str:
    """A line of output with N for each number and size, and without the time before it."""
    return re.sub(r"[\d.,]*\d( [KM]iB)?", "N", re.sub(r"^(antipodes: )?\d{4}-\d\d-\d\d [\d:]{8} ", r"\1", line.strip()))


def anchors(text: str) -> set[str]:
    """The fragments that a link into the page may have: its headings in lower case, words joined by hyphens."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(text: str) -> list[tuple[str, str]]:
    """The path and the fragment of each link to another file or heading."""
    found = re.findall(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)", text)
    return [(path, fragment) for path, fragment in found]
