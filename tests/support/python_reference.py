"""The section of docs/reference/python.md that is generated from docstrings; run this file to write it again."""

import inspect
import re
from typing import Any

from project import DOCS

PAGE = DOCS / "reference" / "python.md"
BEGIN = "<!-- made of the docstrings of antipodes: python tests/support/python_reference.py -->\n"
END = "<!-- end -->\n"
PLAIN = (type(None), bool, int, str)


def written_section() -> str:
    """Return the section that the page contains."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def section() -> str:
    """Return the section that the docstrings imply."""
    import antipodes as api

    members = [(name, getattr(api, name)) for name in api.__all__]
    functions = [(name, one) for name, one in members if inspect.isfunction(one)]
    classes = [(name, one) for name, one in members if inspect.isclass(one)]
    parts = ["| function | result |\n| --- | --- |\n" + "".join(_row(name, one) for name, one in functions)]
    parts.append(
        "| class | what it is |\n| --- | --- |\n" + "".join(f"| `{n}` | {_summary(c)} |\n" for n, c in classes)
    )
    parts += [_parameters(name, one) for name, one in functions if "Parameters\n---" in _doc(one)]
    return "\n" + "\n".join(parts) + "\n"


def _row(name: str, function: Any) -> str:
    return f"| `{name}{_signature(function)}` | {_summary(function)} |\n"


def _parameters(name: str, function: Any) -> str:
    """Return a heading and a table of the parameters, from a docstring in numpy's style."""
    text = re.split(r"\n\n\w+\n---", _doc(function).partition("Parameters\n----------\n")[2])[0]
    entries = re.findall(r"^(\S.*)\n((?:    .*\n?)+)", text, re.MULTILINE)
    rows = [
        f"| `{argument}` | {_markdown(' '.join(said.split()))} |\n"
        for names, said in entries
        for argument in names.split(", ")
    ]
    return f"### `{name}`\n\n| argument | meaning |\n| --- | --- |\n" + "".join(rows)


def _signature(function: Any) -> str:
    shown = []
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        default = "" if one.default is one.empty else f"={one.default!r}" if isinstance(one.default, PLAIN) else "=..."
        shown.append(f"{one.name}{default}")
    return f"({', '.join(shown)})"


def _doc(one: Any) -> str:
    return inspect.getdoc(one) or ""


def _summary(one: Any) -> str:
    return _markdown(_doc(one).partition("\n\n")[0].replace("\n", " "))


def _markdown(text: str) -> str:
    """Convert a text to Markdown: code in single backquotes, and escaped bars, which would end a cell."""
    return text.replace("``", "`").replace("|", "\\|")


def main() -> None:
    """Write the section."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + section() + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
