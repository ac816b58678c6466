"""Exchange of two sides of labelled pieces, such as knights, along fixed routes.

Every piece gets a route to a square of the other side and only moves along its route. This makes the search small, but
the paths that it finds are not always shortest.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Edges, both_ways, neighbours, positions_along, swap_edges
from antipodes_tasks.searches.answer import PATH_BYTES
from antipodes_tasks.searches.progress import Listener, Pace, Progress, silence

Route = tuple[int, ...]
Numbers32 = NDArray[np.int32]
MAX_BOARDS = 1 << 24
"""Maximum number of boards along a combination of routes; this many take 256 MiB and about a second."""
MAX_BYTES = 1 << 30
"""Maximum number of bytes of the solutions."""
MAX_ROUTES = 1 << 12
"""Maximum number of routes of all pieces; every two routes are compared."""
BATCH = 1 << 12
METHOD = "routes"


@dataclass(frozen=True, eq=False, slots=True)
class Exchange:
    """One exchange of the sides."""

    routes: tuple[Route, ...]
    """The route of each piece, ordered by the pieces' places."""
    positions: Labels
    """``(moves + 1, places)``: the positions from the start to the end."""

    @property
    def moves(self) -> int:
        """Number of moves."""
        return len(self.positions) - 1


@dataclass(frozen=True, eq=False, slots=True)
class Exchanges:
    """All exchanges of the sides that the route method finds."""

    limit: int
    combinations: int
    """Number of combinations of routes tried."""
    solutions: tuple[Exchange, ...]
    expanded: int
    """Number of boards expanded."""

    @property
    def histogram(self) -> dict[int, int]:
        """Number of solutions by number of moves, in ascending order."""
        return dict(sorted(Counter(exchange.moves for exchange in self.solutions).items()))


def exchanges(rules: Rules, limit: int, start: ArrayLike | None = None, listener: Listener = silence) -> Exchanges:
    """Find all exchanges of the sides of ``start`` (default: the puzzle's start) along routes of at most ``limit``
    moves.

    The pieces on the first half of the occupied places, in reading order, are one side; the other pieces are the other
    side.

    Raises
    ------
    InputError
        An argument has the wrong type, the limit is not positive, or the method does not apply to the puzzle. The
        pieces must all be different and move along edges in both directions. A half turn must map the board to itself
        and each side to the other; a left-right reflection must map the board and each side to itself.
    ResourceLimitError
        There are too many routes, or too many boards along a combination of routes, or the solutions take too much
        memory.
    """
    arguments.instance(rules, Rules, "the Rules of a puzzle")
    arguments.function(listener, "a listener")
    limit = arguments.integer(limit, "a limit of moves per route", 1)
    position = rules.first if start is None else rules.checked_one(start)
    edges = _symmetric_edges(rules, position)
    pieces = np.flatnonzero(position)
    # Each piece is on one of at most `limit + 1` places of its route, and a board is a combination of these places.
    if (limit + 1) ** len(pieces) > MAX_BOARDS:
        raise ResourceLimitError(
            f"the routes give {limit + 1}^{len(pieces)} boards, but at most {MAX_BOARDS} "
            f"fit in memory: choose a smaller limit"
        )
    plan = _RoutePlan.of(rules, pieces.tolist(), edges, limit)
    tried, found, room = 0, list[Exchange](), MAX_BYTES
    for combinations in plan.combinations():
        tried += len(combinations)
        listener(Progress(METHOD, None, int(plan.expanded[0]), 0))
        for routes, steps in plan.walks(combinations, listener):
            found.append(Exchange(routes, positions_along(position, _swaps(routes, steps))))
            room -= found[-1].positions.nbytes + PATH_BYTES
            if room < 0:
                raise ResourceLimitError(f"{len(found):,} solutions take {MAX_BYTES:,} bytes: choose a smaller limit")
    return Exchanges(limit, tried, tuple(found), int(plan.expanded[0]))


def _symmetric_edges(rules: Rules, position: Labels) -> Edges:
    """Return the edges of the board; raise InputError if the method does not apply to the puzzle."""
    edges = swap_edges(rules)
    if edges is None or not both_ways(edges):
        raise InputError("the routes method needs pieces that move to empty places in both directions")
    pieces = position[position > 0]
    if len(set(pieces.tolist())) < len(pieces) or len(pieces) % 2 or not len(pieces):
        raise InputError("the routes method needs two sides with the same number of pieces, all different")
    for name, image in (("a half turn", half_turn(rules)), ("a left-right reflection", reflection(rules))):
        if image is None or {(image[a], image[b]) for a, b in edges} != edges:
            raise InputError(f"the routes method needs a board that {name} maps to itself")
        _check_sides(np.flatnonzero(position).tolist(), image, exchanged=name == "a half turn", name=name)
    return edges


def _check_sides(pieces: list[int], image: list[int], exchanged: bool, name: str) -> None:
    near, far = pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :]
    if {image[place] for place in near} != set(far if exchanged else near):
        onto = "the other" if exchanged else "itself"
        raise InputError(f"the routes method needs two sides such that {name} maps each to {onto}")


def half_turn(rules: Rules) -> list[int] | None:
    """Return the image of each place under a rotation by 180 degrees; None if a place would be mapped to a hole."""
    squares = rules.board.rows * rules.board.columns
    return _image(rules, [squares - 1 - square for square in range(squares)])


def reflection(rules: Rules) -> list[int] | None:
    """Return the image of each place under a left-right reflection; None if a place would be mapped to a hole."""
    columns = rules.board.columns
    squares = range(rules.board.rows * columns)
    return _image(rules, [square - square % columns + columns - 1 - square % columns for square in squares])


def _image(rules: Rules, square_image: list[int]) -> list[int] | None:
    holes = rules.board.holes
    if {square_image[hole] for hole in holes} != holes:
        return None
    squares = [square for square in range(len(square_image)) if square not in holes]
    place = {square: number for number, square in enumerate(squares)}
    return [place[square_image[square]] for square in squares]


def routes_from(origin: int, ends: set[int], around: list[list[int]], limit: int) -> list[Route]:
    """Return all routes from ``origin`` to one of the ends with at most ``limit`` moves, shortest first.

    A route visits no place twice.
    """
    found: list[Route] = []
    layer: list[Route] = [(origin,)]
    for _ in range(limit):
        layer = [(*route, place) for route in layer for place in around[route[-1]] if place not in route]
        found += [route for route in layer if route[-1] in ends]
        if len(layer) > MAX_ROUTES * len(around) or len(found) > MAX_ROUTES:
            raise ResourceLimitError(
                f"more than {MAX_ROUTES:,} routes of at most {limit} moves: choose a smaller limit"
            )
        if not layer:
            break
    return found


def compatible(routes: list[Route]) -> NDArray[np.bool_]:
    """Return which pairs of routes can be combined, ``(routes, routes)``.

    Two routes can be combined if they have different ends and neither route contains all places of the other. No route
    visits a place twice, so a matrix product counts the places that two routes share.
    """
    covers = np.zeros((len(routes), 1 + max((max(route) for route in routes), default=0)), dtype=np.float32)
    for number, route in enumerate(routes):
        covers[number, list(route)] = 1
    lengths = covers.sum(axis=1)
    ends = np.array([route[-1] for route in routes])
    shorter = np.minimum(lengths[:, np.newaxis], lengths)
    fitting: NDArray[np.bool_] = (ends[:, np.newaxis] != ends) & (covers @ covers.T < shorter)
    return fitting


@dataclass(frozen=True, eq=False, slots=True)
class _RoutePlan:
    """The routes of all pieces as arrays."""

    routes: list[Route]
    first: Numbers32
    """``(pieces + 1,)``: the first route of each piece."""
    compatible: NDArray[np.bool_]
    mirror: Numbers32
    """Number of the route that is the reflection of each route."""
    squares: Numbers32
    """``(routes, limit + 1)``: the places of each route, with the last place repeated."""
    lengths: Numbers32
    """Number of moves of each route."""
    expanded: Numbers
    """``(1,)``: number of boards expanded so far."""
    pace: Pace
    """Number of combinations that the next call of a kernel processes."""

    @classmethod
    def of(cls, rules: Rules, pieces: list[int], edges: Edges, limit: int) -> "_RoutePlan":
        lists = _all_routes(rules, pieces, edges, limit)
        routes = [route for own in lists for route in own]
        image = reflection(rules) or []
        number = {route: i for i, route in enumerate(routes)}
        return cls(
            routes=routes,
            first=np.cumsum([0, *map(len, lists)], dtype=np.int32),
            compatible=compatible(routes),
            mirror=np.array([number[tuple(image[p] for p in route)] for route in routes], dtype=np.int32),
            squares=np.array(
                [[*route, *[route[-1]] * (limit + 1 - len(route))] for route in routes], dtype=np.int32
            ).reshape(-1, limit + 1),
            lengths=np.array([len(route) - 1 for route in routes], dtype=np.int32),
            expanded=np.zeros(1, dtype=np.int64),
            pace=Pace(1),
        )

    def combinations(self) -> Iterator[Numbers32]:
        """Yield all combinations of one route per piece, in batches ``(m, pieces)``."""
        pieces = len(self.first) - 1
        chosen = np.full(pieces, -1, dtype=np.int32)
        level = -1 if (np.diff(self.first) == 0).any() else 0
        rules, pace = (self.first, self.compatible, self.mirror), Pace()
        while level >= 0:
            found = np.empty((BATCH, pieces), dtype=np.int32)
            pace.start()
            count, level, left = _next_combinations(chosen, level, pace.budget, *rules, found)
            pace.learn(pace.budget - left)
            yield found[:count]

    def walks(self, combinations: Numbers32, listener: Listener) -> Iterator[tuple[tuple[Route, ...], Numbers32]]:
        """For each combination along which all pieces can reach their ends, yield the routes and the steps."""
        boards = self.squares.shape[1] ** combinations.shape[1]
        visited = np.zeros(boards, dtype=np.int32)
        steps = np.empty(boards, dtype=np.int32)
        i = 0
        while i < len(combinations):
            first = i
            self.pace.start()
            i, count = _next_exchange(
                combinations[: i + self.pace.budget], i, self.squares, self.lengths, visited, steps, self.expanded
            )
            self.pace.learn(i - first)
            listener(Progress(METHOD, None, int(self.expanded[0]), 0))
            if count >= 0:
                yield tuple(self.routes[route] for route in combinations[i - 1]), steps[:count].copy()


def _all_routes(rules: Rules, pieces: list[int], edges: Edges, limit: int) -> list[list[Route]]:
    """Return the routes of each piece. The pieces of the second side have the rotated routes of the first side's pieces
    in reverse order.
    """
    half = len(pieces) // 2
    around = neighbours(edges, rules.places)
    near = [routes_from(piece, set(pieces[half:]), around, limit) for piece in pieces[:half]]
    turned = half_turn(rules) or []
    return near + [[tuple(turned[p] for p in route) for route in own] for own in reversed(near)]


def _swaps(routes: tuple[Route, ...], steps: Numbers32) -> Numbers32:
    """Return the swaps ``(n, 2)`` of a sequence of n steps: the place of the piece, and the place to which it moves."""
    swaps = np.empty((len(steps), 2), dtype=np.int32)
    progress = [0] * len(routes)
    for i, step in enumerate(steps.tolist()):
        piece = abs(step) - 1
        before = progress[piece]
        progress[piece] += 1 if step > 0 else -1
        swaps[i] = routes[piece][before], routes[piece][progress[piece]]
    return swaps


@kernel
def _next_combinations(
    chosen: Numbers32,
    level: int,
    budget: int,
    first: Numbers32,
    compatible: NDArray[np.bool_],
    mirror: Numbers32,
    found: Numbers32,
) -> tuple[int, int, int]:
    """Write combinations to ``found`` ``(m, pieces)``; return their number, the last level, and the remaining budget.

    The combinations are in lexicographic order; ``chosen`` and ``level`` are the state after the previous call. A call
    tries at most ``budget`` routes. A negative level means that there are no more combinations. If two combinations are
    mirror images of each other, only the lexicographically smaller one is written.
    """
    pieces = len(chosen)
    count = 0
    while level >= 0 and count < len(found) and budget > 0:
        budget -= 1
        chosen[level] += 1
        if chosen[level] == first[level + 1]:
            level -= 1
        elif _fits(chosen, level, compatible):
            if level == pieces - 1:
                if not _mirror_comes_first(chosen, first, mirror):
                    found[count] = chosen
                    count += 1
            else:
                level += 1
                chosen[level] = first[level] - 1
    return count, level, budget


@kernel
def _fits(chosen: Numbers32, level: int, compatible: NDArray[np.bool_]) -> bool:
    """Return whether the last chosen route is compatible with all routes before it."""
    return bool(compatible[chosen[:level], chosen[level]].all())


@kernel
def _mirror_comes_first(chosen: Numbers32, first: Numbers32, mirror: Numbers32) -> bool:
    """Return whether the mirror image of a combination is lexicographically smaller."""
    image = np.empty_like(chosen)
    for piece in range(len(chosen)):
        route = mirror[chosen[piece]]
        image[np.searchsorted(first, route, side="right") - 1] = route
    for piece in range(len(chosen)):
        if image[piece] != chosen[piece]:
            return bool(image[piece] < chosen[piece])
    return False


@kernel
def _next_exchange(
    combinations: Numbers32,
    begin: int,
    squares: Numbers32,
    lengths: Numbers32,
    visited: Numbers32,
    steps: Numbers32,
    expanded: Numbers,
) -> tuple[int, int]:
    """Find the next combination, starting with number ``begin``, along which all pieces can reach their ends.

    Return the number after this combination and the number of steps; if there is no such combination, return the number
    of combinations and -1.

    ``squares`` ``(routes, limit + 1)`` and ``lengths`` describe the routes. A step of piece ``p`` is written to
    ``steps`` as ``p + 1`` if it goes forward, and as ``-(p + 1)`` if it goes back. ``visited`` initially contains a 0
    for each board; ``expanded`` counts the boards expanded.
    """
    for i in range(begin, len(combinations)):
        chosen = combinations[i]
        count = _walk(squares[chosen], lengths[chosen], visited, i + 1, steps, expanded)
        if count >= 0:
            return i + 1, count
    return len(combinations), -1


@kernel
def _walk(
    squares: Numbers32, lengths: Numbers32, visited: Numbers32, stamp: int, steps: Numbers32, expanded: Numbers
) -> int:
    """Search depth-first for a path on which all pieces reach their ends; return its number of steps, or -1.

    Boards visited are marked with ``stamp``.
    """
    pieces, radix = squares.shape
    weight = radix ** np.arange(pieces)
    progress = np.zeros(pieces, np.int64)
    order = np.arange(pieces)  # pieces that have not reached their ends come first
    occupied = np.zeros(squares.max() + 1, np.bool_)
    occupied[squares[:, 0]] = True
    slots = np.empty(len(steps), np.int64)
    unfinished, depth, slot = pieces, 0, 0
    visited[0] = stamp
    board = 0
    expanded[0] += 1
    direction = _forward_if_possible(squares, progress, order[:unfinished], occupied)
    while unfinished:
        slot = _next_slot(squares, progress, order[:unfinished], slot, direction, occupied)
        if slot < unfinished:
            piece = order[slot]
            neighbour = board + direction * weight[piece]
            if visited[neighbour] == stamp:
                slot += 1
                continue
            visited[neighbour] = stamp
            board = neighbour
            expanded[0] += 1
            _step(squares[piece], progress, piece, direction, occupied)
            _to_end(order[:unfinished], slot)
            unfinished -= progress[piece] == lengths[piece]
            steps[depth] = direction * (piece + 1)
            slots[depth] = slot
            depth, slot = depth + 1, 0
            direction = _forward_if_possible(squares, progress, order[:unfinished], occupied)
        elif depth:
            depth -= 1
            piece = abs(steps[depth]) - 1
            direction = 1 if steps[depth] > 0 else -1
            unfinished += progress[piece] == lengths[piece]
            _from_end(order[:unfinished], slots[depth])
            _step(squares[piece], progress, piece, -direction, occupied)
            board -= direction * weight[piece]
            slot = slots[depth] + 1
        else:
            return -1
    return depth


@kernel
def _forward_if_possible(squares: Numbers32, progress: Numbers, order: Numbers, occupied: NDArray[np.bool_]) -> int:
    """Return 1 if some piece can go forward; otherwise return -1, since pieces step back only in this case."""
    return 1 if _next_slot(squares, progress, order, 0, 1, occupied) < len(order) else -1


@kernel
def _next_slot(
    squares: Numbers32,
    progress: Numbers,
    order: Numbers,
    slot: int,
    direction: int,
    occupied: NDArray[np.bool_],
) -> int:
    """Return the first slot of ``order``, starting with ``slot``, whose piece can step in a direction.

    Returns the length of ``order`` if there is none. No piece steps back onto its start.
    """
    while slot < len(order):
        piece = order[slot]
        goal = progress[piece] + direction
        if goal > 0 and not occupied[squares[piece, goal]]:
            return slot
        slot += 1
    return slot


@kernel
def _step(route: Numbers32, progress: Numbers, piece: int, direction: int, occupied: NDArray[np.bool_]) -> None:
    """Move one piece along its route."""
    occupied[route[progress[piece]]] = False
    progress[piece] += direction
    occupied[route[progress[piece]]] = True


@kernel
def _to_end(order: Numbers, slot: int) -> None:
    """Move the piece in a slot to the end of the list."""
    piece = order[slot]
    for later in range(slot, len(order) - 1):
        order[later] = order[later + 1]
    order[-1] = piece


@kernel
def _from_end(order: Numbers, slot: int) -> None:
    """Move the piece at the end of the list back into its slot."""
    piece = order[-1]
    for later in range(len(order) - 1, slot, -1):
        order[later] = order[later - 1]
    order[slot] = piece
