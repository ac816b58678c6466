"""Random small changes of the program's source: mutants."""

import ast
import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCES = ("pipeline/antipodes", "tasks/antipodes_tasks")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
}
"""The operator that replaces each operator."""


@dataclass(frozen=True)
class Mutant:
    """A change of one expression or statement."""

    file: str
    """Path of the file, from the root of the project."""
    start: int
    """Offset of the changed source in the file, in bytes."""
    before: str
    after: str
    line: int
    """Line of the statement that contains it, from 1; of the first condition, if it is an ``elif``."""
    is_kernel: bool
    """True in functions that are compiled."""

    @property
    def package(self) -> str:
        """Name of the package, which is also the name of the folder of its tests."""
        return Path(self.file).parts[2]

    def apply(self, source: bytes) -> bytes:
        """Return the source of the file with the change."""
        before = self.before.encode()
        if source[self.start : self.start + len(before)] != before:
            raise ValueError(f"{self.file} is another version: expected {self.before!r} in line {self.line}")
        return source[: self.start] + self.after.encode() + source[self.start + len(before) :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before!r} -> {self.after!r}"


def choose(root: Path, number: int, seed: int) -> list[Mutant]:
    """Return random mutants, spread evenly over the packages: the same ones for the same sources and seed."""
    chance = random.Random(seed)
    packages = sorted(
        folder for source in SOURCES for folder in (root / source).iterdir() if (folder / "__init__.py").exists()
    )
    chance.shuffle(packages)
    rest = [
        chance.sample(
            found := [mutant for file in sorted(folder.rglob("*.py")) for mutant in mutants(root, file)], len(found)
        )
        for folder in packages
    ]
    return [rest[place % len(rest)][place // len(rest)] for place in range(number)]


def mutants(root: Path, file: Path) -> Iterator[Mutant]:
    """Yield all mutants of the functions of a file."""
    source = file.read_bytes()
    starts = [0]
    for line_of_file in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line_of_file))
    name = file.relative_to(root).as_posix()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef) or _is_abstract(function):
            continue
        for statement, line in _statements(function.body):
            for node, changed in _changes(statement):
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
                before = source[start:end].decode()
                yield Mutant(name, start, before, changed, line, "kernel" in _decorators(function))


def _decorators(function: ast.FunctionDef) -> list[str]:
    return [ast.unparse(decorator) for decorator in function.decorator_list]


def _is_abstract(function: ast.FunctionDef) -> bool:
    return not {"abstractmethod", "overload"}.isdisjoint(_decorators(function))


def _statements(body: list[ast.stmt], above: tuple[int, int] = (-1, 0)) -> Iterator[tuple[ast.stmt, int]]:
    """Yield statements and those within them, each with a line before which another statement may stand.

    The statements of inner functions are left out: they are visited as functions.
    """
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        column, first = above
        line = first if statement.col_offset == column else statement.lineno  # an elif stands below its if
        yield statement, line
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []), (statement.col_offset, line))
        for handler in getattr(statement, "handlers", []):
            yield from _statements(handler.body)


def _changes(statement: ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield nodes of a statement, without those of inner statements, and the source that replaces each."""
    if isinstance(statement, ast.AugAssign) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    ):
        yield statement, "pass"
    if isinstance(statement, ast.If | ast.Assert):
        yield statement.test, f"not ({ast.unparse(statement.test)})"
    for node in _expressions(statement):
        yield from ((node, f"({text})") for text in _changes_of_expression(node))


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of a statement that are evaluated: no types, and no texts, whose parts have no places."""
    for field, values in ast.iter_fields(node):
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, ast.expr) and field != "annotation" and not isinstance(value, ast.JoinedStr):
                yield value
                yield from _expressions(value)
            elif isinstance(value, ast.keyword | ast.comprehension):
                yield from _expressions(value)


def _changes_of_expression(node: ast.expr) -> Iterator[str]:
    changed = copy.copy(node)
    match changed:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPS:
            changed.ops = [SWAPS[type(operator)]()]  # type: ignore[list-item]
        case ast.BoolOp() | ast.BinOp() if type(changed.op) in SWAPS:
            changed.op = SWAPS[type(changed.op)]()  # type: ignore[assignment]
        case ast.UnaryOp(op=ast.Not()):
            yield ast.unparse(changed.operand)
            return
        case ast.Constant(value=bool() as value):
            changed.value = not value
        case ast.Constant(value=int() as value):
            changed.value = value + 1
        case _:
            return
    yield ast.unparse(changed)
