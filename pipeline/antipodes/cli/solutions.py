"""How `solve` shows what was found: rows of boards, or JSON."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from antipodes.cli.output import print_json, terminal_columns

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.searches.answer import Answer
    from antipodes.searches.routes import Exchanges


@dataclass(frozen=True, slots=True)
class Timed:
    """An answer, how long it took, and why its method was chosen unless it was asked for."""

    answer: "Answer"
    seconds: float
    reason: str | None


def show_answer(puzzle: "Puzzle", timed: Timed, every: bool, bound: int | None, as_json: bool) -> None:
    """Print what a search or a table answered."""
    if as_json:
        print_json(_to_json(puzzle, timed))
        return
    from antipodes.tables.drawing import draw_path

    answer = timed.answer
    print(_verdict(answer, every, bound))
    chosen = f", chosen because {timed.reason}" if timed.reason else ""
    print(f"{answer.method}{chosen}: {answer.expanded:,} positions expanded in {timed.seconds:.3f} s")
    for number, way in enumerate(answer.solutions, start=1):
        if answer.solution_count > 1:
            print(f"\nsolution {number} of {answer.solution_count:,}")
        print(draw_path(puzzle, way, terminal_columns()))
    _print_rest(answer.solution_count, len(answer.solutions))


def show_exchanges(puzzle: "Puzzle", found: "Exchanges", seconds: float, listed: int, as_json: bool) -> None:
    """Print what the route method found; the summary comes last, where it stays in sight."""
    if as_json:
        print_json(_exchanges_to_json(puzzle, found, seconds, listed))
        return
    from antipodes.tables.drawing import draw_path

    count = len(found.solutions)
    for number, exchange in enumerate(found.solutions[:listed], start=1):
        print(f"solution {number} of {count:,}, {exchange.moves} moves")
        print(draw_path(puzzle, exchange.positions, terminal_columns()), end="\n\n")
    _print_rest(count, listed)
    print(f"{count:,} {'solution' if count == 1 else 'solutions'} with routes of at most {found.limit} moves")
    for moves, solutions in found.histogram.items():
        print(f"{moves:>6} moves  {solutions:>6,}")
    print(f"{found.combinations:,} combinations of routes, {found.expanded:,} boards, in {seconds:.3f} s")


def _to_json(puzzle: "Puzzle", timed: Timed) -> dict[str, Any]:
    answer = timed.answer
    return {
        "method": answer.method,
        "reason": timed.reason,
        "outcome": str(answer.outcome),
        "distance": answer.distance,
        "solution_count": answer.solution_count,
        "solutions": [[puzzle.format(one) for one in way] for way in answer.solutions],
        "expanded": answer.expanded,
        "seconds": round(timed.seconds, 6),
    }


def _verdict(answer: "Answer", every: bool, bound: int | None) -> str:
    if answer.outcome == "bound":
        return f"not solved within {_moves(bound)}: it takes more, if there is a way at all"
    if answer.distance is None:
        return "unsolvable: no moves lead to the goal"
    if not every:
        return _moves(answer.distance)
    ways = "way" if answer.solution_count == 1 else "ways"
    return f"{_moves(answer.distance)}, {answer.solution_count:,} shortest {ways}"


def _moves(count: int | None) -> str:
    return f"{count} {'move' if count == 1 else 'moves'}"


def _print_rest(count: int, shown: int) -> None:
    if shown < count:
        print(f"and {count - shown:,} more: --list {count}")


def _exchanges_to_json(puzzle: "Puzzle", found: "Exchanges", seconds: float, listed: int) -> dict[str, Any]:
    return {
        "method": "routes",
        "limit": found.limit,
        "combinations": found.combinations,
        "distance": min(found.histogram, default=None),
        "solution_count": len(found.solutions),
        "histogram": found.histogram,
        "moves": [exchange.moves for exchange in found.solutions[:listed]],
        "solutions": [[puzzle.format(one) for one in way.positions] for way in found.solutions[:listed]],
        "expanded": found.expanded,
        "seconds": round(seconds, 6),
    }
