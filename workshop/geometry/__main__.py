"""Write the definitions of twisty puzzles and the configs that use them: ``python -m workshop.geometry``."""

import textwrap
from collections.abc import Iterable
from pathlib import Path

from workshop.geometry.files import definition, picture
from workshop.geometry.puzzles import Design, designs

CONFIGS = Path(__file__).parents[2] / "configs"
CUBE = 43_252_003_274_489_856_000
VARIANTS = {
    "2x2x2": ("2x2x2", "half", "The 2x2x2 cube, all eight corners free, in half turns: 88,179,840 positions"),
    "2x2x2-quarter": (
        "2x2x2",
        "quarter",
        "The 2x2x2 cube, all eight corners free, in quarter turns: 88,179,840 positions",
    ),
    "2x2x2-corner": ("2x2x2-corner", "half", "The 2x2x2 cube, one corner fixed, in half turns: 3,674,160 positions"),
    "2x2x2-corner-quarter": (
        "2x2x2-corner",
        "quarter",
        "The 2x2x2 cube, one corner fixed, in quarter turns: 3,674,160 positions",
    ),
    "2x2x3": ("2x2x3", "half", "The 2x2x3 tower, one edge fixed: 241,920 positions"),
    "3x3x3": ("3x3x3", "half", f"The 3x3x3 cube in half turns: {CUBE:,} positions"),
    "3x3x3-quarter": ("3x3x3", "quarter", f"The 3x3x3 cube in quarter turns: {CUBE:,} positions"),
    "3x3x3-squares": ("3x3x3-squares", "half", "The 3x3x3 cube with half turns only: 663,552 positions"),
    "3x3x3-two-faces": (
        "3x3x3-two-faces",
        "half",
        "The 3x3x3 cube with turns of two adjacent faces: 73,483,200 positions",
    ),
    "skewb": ("skewb", "half", "The skewb, all eight corners turn: 37,791,360 positions"),
    "skewb-corner": ("skewb-corner", "half", "The skewb, one corner fixed: 3,149,280 positions"),
    "dino": ("dino", "half", "The dino cube, all eight corners turn: 239,500,800 positions"),
    "dino-edge": (
        "dino-edge",
        "half",
        "The dino cube with turns of six corners, which keep one edge in place: 19,958,400 positions",
    ),
    "ivy": ("ivy", "half", "The ivy cube: 29,160 positions"),
    "pyraminx": ("pyraminx", "half", "The pyraminx without its tips: 933,120 positions"),
    "pyraminx-tips": ("pyraminx-tips", "half", "The pyraminx with its tips: 75,582,720 positions"),
    "pyraminx-faces": (
        "pyraminx-faces",
        "half",
        "The pyraminx with its tips, by turns of faces, which roll it over: 302,330,880 positions",
    ),
    "skewb-diamond": (
        "skewb-diamond",
        "half",
        "The skewb diamond, an octahedron cut like the skewb: 138,240 positions",
    ),
    "halpern-kolmelij": ("halpern-kolmelij", "half", "The Halpern-Kolmelij pyramid: 3,732,480 positions"),
}
"""The bundled puzzles: design, metric and description of each name."""
CONFIG = '''# Written by python -m workshop.geometry.
[puzzle]
name = "{name}"
family = "twisty"
file = "twisty/{design}.tws"
turns = "{turns}"
description = "{description}"
net = """
{net}
"""
facelets = """
{facelets}
"""
{faces}'''
FACES = "U:W R:R F:G D:Y L:O B:B"
"""The faces of cubes in the order of H. Kociemba's programs, and the letters of their colours."""
WRITTEN_BY_FACES = ("2x2x2", "2x2x2-quarter", "3x3x3", "3x3x3-quarter")
"""Names of the puzzles whose positions other programs write face by face."""


CUBES = ("3x3x3", "3x3x3-quarter")
"""Names of the cubes that are too large for a table and are solved with pattern tables."""
CORNERS, PHASE_ONE, SLICES = "corners", "phase-one", "slices"
PATTERNS = {
    CORNERS: ("2x2x2", "the corners, 88,179,840 positions"),
    PHASE_ONE: (
        "3x3x3-phase-one",
        "twists, flips and places of the four middle edges, 2,217,093,120 positions",
    ),
    SLICES: (
        "3x3x3-slices",
        "twists, flips and the slice of each edge, 155,196,518,400 positions",
    ),
}
"""Design and description of each pattern of a cube; PHASE_ONE is the first phase of H. Kociemba's algorithm. SLICES
keeps, for each edge, which of the three slices between opposite faces it belongs to.
"""
LARGE = ("3x3x3-slices",)
"""Names of the patterns whose tables take gigabytes; they are large patterns in the configs of their cubes."""
PATTERN = """# Written by python -m workshop.geometry.
[puzzle]
name = "{name}"
family = "twisty"
file = "../twisty/{design}.tws"
turns = "{turns}"
description = "A pattern of {cube}: {description}"
"""
SLICE_OF_EDGE = {PHASE_ONE: (0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0), SLICES: (0, 2, 2, 0, 1, 1, 1, 1, 0, 2, 2, 0)}
"""For each pattern, the slice of the edge on each place; edges with the same number are identical."""


def texts() -> dict[str, str]:
    """Return the contents of all files by their paths in ``configs``."""
    made = {design.name: design for design in designs()}
    found = {f"twisty/{name}.tws": definition(design) for name, design in made.items()}
    for pattern in SLICE_OF_EDGE:
        found[f"twisty/3x3x3-{pattern}.tws"] = _with_equal_pieces(found["twisty/3x3x3.tws"], pattern)
    for cube in CUBES:
        for pattern in PATTERNS:
            if pattern == SLICES and f"{cube}-{pattern}" not in LARGE:
                continue
            found[f"patterns/{cube}-{pattern}.toml"] = _pattern(cube, pattern)
    return found | {f"{name}.toml": _config(name, made[variant[0]]) for name, variant in VARIANTS.items()}


def _with_equal_pieces(cube: str, pattern: str) -> str:
    """Return the definition of the cube with identical corners, and with identical edges in each slice of a pattern."""
    start = cube[cube.index("StartState") : cube.index("End")]
    edges = _listed(SLICE_OF_EDGE[pattern])
    equal = start.replace(_listed(range(8)), _listed([0] * 8), 1).replace(_listed(range(12)), edges, 1)
    return cube.replace(start, equal).replace("Name 3x3x3", f"Name 3x3x3-{pattern}")


def _listed(numbers: Iterable[int]) -> str:
    return "\n" + " ".join(map(str, numbers)) + "\n"


def _pattern(cube: str, pattern: str) -> str:
    design, description = PATTERNS[pattern]
    _, turns, _ = VARIANTS[cube]
    return PATTERN.format(name=f"{cube}-{pattern}", design=design, turns=turns, cube=cube, description=description)


def _config(name: str, design: Design) -> str:
    _, turns, description = VARIANTS[name]
    net, facelets = picture(design)
    lines = "\n".join(textwrap.wrap(facelets, 110))
    faces = f'faces = "{FACES}"\n' if name in WRITTEN_BY_FACES else ""
    config = CONFIG.format(
        name=name, design=design.name, turns=turns, description=description, net=net, facelets=lines, faces=faces
    )
    if name not in CUBES:
        return config
    large = f"{name}-{SLICES}"
    more = f'large_patterns = ["{large}"]\n' if large in LARGE else ""
    return f'{config}\n[solve]\npatterns = ["{name}-{PHASE_ONE}"]\n{more}'


if __name__ == "__main__":
    for folder in ("twisty", "patterns"):
        (CONFIGS / folder).mkdir(exist_ok=True)
    for name, text in texts().items():
        (CONFIGS / name).write_text(text, encoding="utf-8")
