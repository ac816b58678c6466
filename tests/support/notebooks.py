"""The notebooks of the documentation. Run this file to run all of them, or only some, and to store their outputs.

The cells run in this process, which is much faster than a kernel and needs no more packages. They contain plain Python
without magic commands.
"""

import ast
import base64
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from project import DOCS

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
LEARNING = [path for path in NOTEBOOKS if "import torch" in path.read_text(encoding="utf-8")]
"""The notebooks that need torch, which only `make test-bridges` installs."""
FORMATS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
SECONDS = re.compile(r"\d+\.\d s\b")

Cell = dict[str, Any]


def cells(notebook: Path, kind: str = "code") -> list[Cell]:
    """Return the cells of one kind."""
    return [cell for cell in read(notebook)["cells"] if cell["cell_type"] == kind]


def read(notebook: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    return content


def run(notebook: Path) -> dict[str, Any]:
    """Run the code cells in the working directory and return the variables."""
    names: dict[str, Any] = {}
    for _ in outputs(notebook, names):
        pass
    return names


def outputs(notebook: Path, names: dict[str, Any] | None = None) -> Iterator[list[Cell]]:
    """Run the code cells in the working directory, with these variables, and yield the outputs of each."""
    names = {} if names is None else names
    names["__name__"] = "__main__"
    for number, cell in enumerate(cells(notebook), start=1):
        yield _shown("".join(cell["source"]), names, number)


def _shown(source: str, names: dict[str, Any], number: int) -> list[Cell]:
    """Run a cell as a kernel does; return its printed output and the value of its last line."""
    body, value = ast.parse(source).body, None
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    shown: list[Cell] = []
    if text := printed.getvalue():
        shown.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        shown.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": _data(value)})
    return shown


def _data(value: object) -> dict[str, list[str]]:
    shown = {kind: getattr(value, method)() for kind, method in FORMATS.items() if hasattr(value, method)}
    if hasattr(value, "savefig"):
        value.savefig(image := io.BytesIO(), dpi=72)
        shown["image/png"] = base64.b64encode(image.getvalue()).decode()
    shown["text/plain"] = repr(value)
    return {kind: text.splitlines(keepends=True) for kind, text in shown.items() if text is not None}


def plain(output: Cell) -> str:
    """Return the text of an output without times."""
    return SECONDS.sub("N s", "".join(output.get("text") or output["data"]["text/plain"]))


@contextmanager
def working_directory() -> Iterator[Path]:
    """Change into a new empty directory for the duration of the block."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def main() -> None:
    """Store the outputs of all notebooks, or of the notebooks whose names are arguments."""
    for notebook in [path for path in NOTEBOOKS if path.stem in sys.argv[1:] or not sys.argv[1:]]:
        content = read(notebook)
        code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        with working_directory():
            for number, (cell, shown) in enumerate(zip(code, outputs(notebook), strict=True), start=1):
                cell["outputs"], cell["execution_count"] = shown, number
        notebook.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
