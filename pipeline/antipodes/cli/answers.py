"""Printing of answers: paths found by a search or a table, and exchanges along routes."""

from antipodes.cli.drawing import print_path
from antipodes.cli.streams import print_json, print_line, print_lines
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving.solve import IDA_STAR, Solved
from antipodes.tables.drawing import draw_moves
from antipodes.tables.json_results import routes_answer, solve_answer
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.searches.answer import Answer, Proof
from antipodes_tasks.searches.routes import Exchanges

LISTABLE = 10_000
"""Maximum number of solutions that a hint suggests to list; billions would not fit into memory."""


def show_solved(puzzle: Puzzle, solved: Solved, every: bool, as_json: bool) -> None:
    """Print the answer of a search or a table."""
    if as_json:
        print_json(solve_answer(puzzle, solved, every))
        return
    answer = solved.answer
    print_line(_outcome(answer, every))
    chosen = f", chosen because {solved.reason}" if solved.reason else ""
    expanded = f"{counted(answer.expanded, 'position')} expanded"
    guided = f" with {solved.heuristic}" if solved.heuristic else ""
    guided += "" if solved.estimate is None else f", {solved.estimate} at the position"
    generated = "" if answer.generated is None else f", {answer.generated:,} generated"
    print_line(f"{answer.method}{guided}{chosen}: {expanded}{generated} in {solved.seconds:.3f} s")
    if answer.proved is not None and (answer.method != IDA_STAR):
        print_line(_proof(solved))
    for number, path in enumerate(answer.solutions, start=1):
        if answer.solution_count > 1:
            print_line()
            print_line(f"solution {number} of {answer.solution_count:,}")
        print_path(puzzle, path)
        print_lines(draw_moves(puzzle.move_names(path)))
    _print_rest(answer.solution_count, len(answer.solutions))


def show_routes(puzzle: Puzzle, found: Exchanges, seconds: float, listed: int, as_json: bool) -> None:
    """Print the solutions of the route method; the summary comes last, where it stays visible."""
    if as_json:
        print_json(routes_answer(puzzle, found, seconds, listed))
        return
    count = len(found.solutions)
    for number, exchange in enumerate(found.solutions[:listed], start=1):
        print_line(f"solution {number} of {count:,}, {counted(exchange.moves, 'move')}")
        print_path(puzzle, exchange.positions)
        print_line()
    _print_rest(count, listed)
    print_line(f"{counted(count, 'solution')} with routes of at most {counted(found.limit, 'move')}")
    for moves, solutions in found.histogram.items():
        print_line(f"{moves:>6} moves  {solutions:>6,}")
    combined = f"{counted(found.combinations, 'combination')} of routes, {counted(found.expanded, 'board')}"
    print_line(f"{combined}, in {seconds:.3f} s")


def _outcome(answer: Answer, every: bool) -> str:
    """Return the first line: the length of the path, or why no path was found."""
    if answer.outcome == "depth-limit":
        return f"no path has fewer than {_moves(answer.least)}; the goal is farther or unreachable"
    if answer.outcome == "time-limit":
        known = f"no path has fewer than {_moves(answer.least)}; " if answer.least and answer.least > 1 else ""
        return f"the time limit was reached: {known}the goal is farther or unreachable"
    if answer.outcome == "not-found":
        return "no path found: the beam dropped positions, so the goal may be reachable; try a greater --width"
    if answer.distance is None:
        return "unreachable: no sequence of moves leads to the goal"
    if not every:
        return _moves(answer.distance)
    return f"{_moves(answer.distance)}, {counted(answer.solution_count, 'shortest path')}"


def _proof(solved: Solved) -> str:
    """Return what is proved about the length of the path."""
    answer = solved.answer
    if answer.violations:
        number = counted(answer.violations, "estimate")
        return f"not proved to be shortest: {number} exceeded the length of a path to the goal"
    lengths = {
        Proof.SHORTEST: "shortest path",
        Proof.WITHIN: f"at most {answer.bound:g} times as long as a shortest path" if answer.bound else "",
        Proof.PATH: "not proved to be shortest",
    }
    condition = f", if {solved.heuristic} returns lower bounds" if answer.conditional else ""
    return f"{lengths[answer.proved or Proof.PATH]}{condition}"


def _moves(count: int | None) -> str:
    return counted(count or 0, "move")


def _print_rest(count: int, shown: int) -> None:
    if shown < count:
        asked = str(count) if count <= LISTABLE else "N"
        print_line(f"and {count - shown:,} more: --list {asked}")
