"""The sections of the reference pages about the declared questions."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, fill
from typing import Any, get_args, get_type_hints

from antipodes.system.declared_questions import DeclaredQuestion
from antipodes.tables.questions import QUESTIONS
from antipodes_tasks.base.option_names import option_of

FOLDER = Path(__file__).parent.parent.parent / "docs" / "reference"
BEGIN, END = "<!-- made of the declared questions: make manual -->\n", "<!-- end of the declared questions -->\n"
WIDTH = 120
SHARED = {
    "`--csv`": ("print comma-separated values", ""),
    "`--puzzle PUZZLE`": ("the puzzle of the store, [if it is needed](#arguments)", "the puzzle that the store names"),
    "`--json`": ("print one JSON value", ""),
}
"""The options of every question: meaning and default."""


def sections() -> dict[Path, str]:
    """Return the generated text of each page."""
    parts = {"cli.md": _command, "json.md": _keys, "service.md": _endpoint}
    return {FOLDER / name: "\n".join(map(part, QUESTIONS)) for name, part in parts.items()}


def page_with(path: Path, section: str) -> str:
    """Return the text of a page with the generated section in place of the present one."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin + end == BEGIN + END, f"{path.name} has no place for the declared questions"
    return f"{before}{begin}\n{section}\n{end}{after}"


def _command(question: DeclaredQuestion) -> str:
    """Return the section about a command: its docstring without the errors, and its options."""
    first, *rest = [part for part in _paragraphs(question.method) if not part.startswith("Raises")]
    text = [f"`antipodes {question.name} STORE` {_third_person(first)}", *rest]
    rows = [
        (
            f"`{option_of(name)}{f' {declared.metavar}' if declared.metavar else ''}`",
            _cell(declared.help.partition(" [default")[0]),
            (re.search(r"\[default: (.*)\]", declared.help) or ["", ""])[1],
        )
        for name, (_, declared) in question.parameters.items()
    ]
    rows += [(name, *texts) for name, texts in SHARED.items()]
    prose = "\n\n".join(fill(part, WIDTH) for part in text)
    return f"## `{question.name}`\n\n{prose}\n\n{_table(('option', 'meaning', 'default'), rows)}"


def _keys(question: DeclaredQuestion) -> str:
    """Return the section about the JSON of an answer: its keys, and those of the records in it."""
    parts = [f"## `{question.name}`"]
    for number, record in enumerate(_records(question.record)):
        if number:
            parts.append("Each item of the list has these keys:")
        parts.append(
            _table(("key", "meaning"), [(f"`{name}`", _cell(text)) for name, text in _fields(record)]).rstrip()
        )
    return "\n\n".join(parts) + "\n"


def _endpoint(question: DeclaredQuestion) -> str:
    """Return the table about an endpoint."""
    names = [f"{name}=" for name, (_, declared) in question.parameters.items() if declared.over_http]
    address = f"`GET /stores/NAME/{question.name}{'?' * bool(names)}{'&'.join(names)}`"
    return _table(("endpoint", "answer"), [(address, f"as [`{question.name} --json`](json.md#{question.name})")])


def _paragraphs(function: Any) -> list[str]:
    """Return the paragraphs of a docstring, each as one line of Markdown."""
    text = inspect.getdoc(function) or ""
    return [" ".join(part.split()).replace("``", "`") for part in text.split("\n\n")]


def _records(kind: type) -> Iterator[type]:
    """Yield a class of records, and the classes of the records that its lists contain."""
    yield kind
    for hint in get_type_hints(kind).values():
        yield from (one for one in get_args(hint) if hasattr(one, "__dataclass_fields__"))


def _fields(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the name of each field of a class, and the string under it."""
    tree = ast.parse(dedent(inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    for one, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(one, ast.AnnAssign) and isinstance(after, ast.Expr):
            yield ast.unparse(one.target), ast.literal_eval(after.value)


def _third_person(sentence: str) -> str:
    """Return a sentence in the imperative as the end of a sentence about a command."""
    verb, _, rest = sentence.partition(" ")
    return f"{verb.lower()}s {rest}"


def _cell(sentence: str) -> str:
    """Return a sentence as the content of a cell: it begins with a small letter and has no final point."""
    return sentence[0].lower() + sentence[1:].removesuffix(".")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in lines)
