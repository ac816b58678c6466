"""Estimates of ``plan`` compared with the times of the runs, for puzzles of every kind.

    python -m benchmarks.estimates [NAME...]

Prints one line for each puzzle: the estimated and the measured seconds of the phases, and the ratio of the totals. Each
run is a separate process that may use the free memory of this machine. Its store is deleted afterwards.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BUNDLED = (
    "eight-puzzle knights-labelled klotski rush-hour m12 hanoi-3-pegs hanoi-4-pegs lights-out-5x5 pancake-10 "
    "burnt-pancake-8 pancake-11 topspin-11 three-colours skewb pyraminx two-by-six 2x2x2 ivy m24 seven-tiles"
)
PHASES = ("start", "tables", "search", "write")
REVERSALS = ", ".join(f"R{n} = {[*range(n - 1, -1, -1), *range(n, 10)]}" for n in range(2, 11))


def _hanoi(pegs: int, discs: int) -> str:
    return f'family = "hanoi"\npegs = {pegs}\ndiscs = {discs}'


def _one_way(start: str, swap: str) -> str:
    """Return a puzzle with two moves, and so with many layers: rotate all pieces in one direction, or swap some."""
    places = [*range(1, len(start)), 0]
    moves = f'moves = {{ L = {places}, X = "{swap}" }}'
    return f'family = "generators"\nstart = "{" ".join(start)}"\nturns = "single"\n{moves}'


OTHERS = {
    "hanoi-3x14": _hanoi(3, 14),
    "hanoi-4x12": _hanoi(4, 12),
    "hanoi-5x10": _hanoi(5, 10),
    "hanoi-5x12": _hanoi(5, 12),
    "one-way-9": _one_way("012345678", "(0 1 2)"),
    "one-way-10": _one_way("0123456789", "(0 1)"),
    "one-way-20": _one_way("0" * 10 + "1" * 10, "(0 1)"),
    "one-way-24": _one_way("0" * 18 + "1" * 6, "(0 1)"),
    "one-way-11": _one_way("01234567899", "(0 1)"),
    "reversals-10": f'family = "generators"\nstart = "0 1 2 3 4 5 6 7 8 9"\nmoves = {{ {REVERSALS} }}',
    "lamps-24": 'family = "lights-out"\nrows = 4\ncolumns = 6',
}


def main(names: list[str]) -> None:
    """Print the table."""
    print(
        f"{'puzzle':<16}{'positions':>14}{'layers':>7}{'planned':>9}{'run':>9}{'ratio':>7}   start tables search write"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in names or [*BUNDLED.split(), *OTHERS]:
            puzzle = name
            if name in OTHERS:
                puzzle = f"{folder}/{name}.toml"
                Path(puzzle).write_text(f'[puzzle]\nname = "{name}"\n{OTHERS[name]}\n')
            print(_line(name, puzzle, Path(folder)), flush=True)


def _line(name: str, puzzle: str, folder: Path) -> str:
    planned = _json("plan", puzzle, folder=folder)
    ran = _json("run", puzzle, "--quiet", "--overwrite", folder=folder)
    took, phases = ran["seconds"], planned["phases"]
    rest = took["total"] - took["tables"] - took["search"] - took["write"]
    measured = {"start": rest, **{key: took[key] for key in PHASES[1:]}}
    compared = "  ".join(f"{phases[key]:.2f}:{seconds:.2f}" for key, seconds in measured.items())
    expected = planned["seconds"]
    ratio = "unknown" if expected is None else f"{expected / took['total']:.2f}"
    shown = "" if expected is None else f"{expected:.2f}"
    return (
        f"{name:<16}{ran['states']:>14,}{len(ran['layers']):>7,}{shown:>9}{took['total']:>9.2f}{ratio:>7}   {compared}"
    )


def _json(*arguments: str, folder: Path) -> dict[str, Any]:
    command = [str(Path(sys.executable).with_name("antipodes")), *arguments, "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    value: dict[str, Any] = json.loads(done.stdout)
    return value


if __name__ == "__main__":
    main(sys.argv[1:])
