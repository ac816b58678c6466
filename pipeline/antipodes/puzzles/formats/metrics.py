"""Which turns count as one move: the metrics of twisty puzzles."""

from collections.abc import Mapping
from types import MappingProxyType

from antipodes.puzzles.formats.checks import MOST_MOVES
from antipodes.puzzles.formats.definition import Turn
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote

METRICS = ("half", "quarter", "single")
PRIME = "'"


def expand(
    turns: Mapping[str, Turn], metric: str = "half", others: Mapping[str, Turn] = MappingProxyType({})
) -> dict[str, Turn]:
    """The moves of a search: in the half-turn metric each turn with all its powers, in the quarter-turn metric each
    turn and its inverse, in the single-turn metric the turns as they are.

    Turns that change nothing are left out, and so are those that do the same as an earlier one. The powers of a turn
    ``R`` of order ``n`` are ``R``, ``R2``, ... up to half of ``n``, then ``R3'``, ``R2'``, ``R'``, as people write
    them. A power of a turn whose name ends in a digit is written with brackets, ``(R2)2``, and so is one whose name
    the ``others`` give to another turn.

    Raises
    ------
    ConfigError
        There is no such metric, no turn changes anything, or there are more than `MOST_MOVES` moves.
    """
    if metric not in METRICS:
        raise ConfigError(f"turns: expected one of {', '.join(METRICS)}, found {quote(metric)}")
    orders = {name: turn.order for name, turn in turns.items()}
    if metric == "half" and sum(orders.values()) - len(orders) > MOST_MOVES:
        longest = max(orders, key=orders.__getitem__)
        raise ConfigError(
            f"turns: expected at most {MOST_MOVES:,} moves, found powers of {quote(longest)} up to "
            f"{quote(orders[longest] - 1)}; see the metrics 'quarter' and 'single'"
        )
    moves: dict[str, Turn] = {}
    effects: set[Turn] = set()
    for name, turn in turns.items():
        for exponent in _exponents(orders[name], metric):
            power = turn.power(exponent)
            if power not in effects:
                effects.add(power)
                moves[_name(name, exponent, {**turns, **_other_than(power, others)}, moves)] = power
    if not moves:
        raise ConfigError("turns: expected one that changes something, found none")
    return moves


def _other_than(turn: Turn, others: Mapping[str, Turn]) -> dict[str, Turn]:
    return {name: other for name, other in others.items() if other != turn}


def _exponents(order: int, metric: str) -> list[int]:
    """The exponents of a turn of that order, from 1 up to half of it, then the negative ones."""
    if order == 1:
        return []
    if metric == "half":
        return [*range(1, order // 2 + 1), *range(order // 2 + 1 - order, 0)]
    return [1, -1] if metric == "quarter" else [1]


def _name(name: str, exponent: int, turns: Mapping[str, Turn], moves: Mapping[str, Turn]) -> str:
    """The name of a power of a turn: none that a move has, and none that reads as a power of another turn."""
    if exponent == 1:
        return name
    family, backwards = name, exponent < 0
    amount = "" if abs(exponent) == 1 else str(abs(exponent))
    if name.endswith("'"):
        family, backwards = name[:-1], not backwards
    written = f"{family}{amount}{PRIME if backwards else ''}"
    reads_as = max((other for other in turns if written.startswith(other)), key=len, default=name)
    if family and not family[-1].isdigit() and not family.endswith(PRIME) and reads_as == name and written not in moves:
        return written
    return f"({name}){amount}{PRIME if exponent < 0 else ''}"
