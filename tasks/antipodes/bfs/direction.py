"""The direction of a step of the search: push the frontier along its moves, or pull it to unvisited positions.

Direction-optimising breadth-first search (Beamer, Asanovic, Patterson: Direction-Optimizing Breadth-First Search, 2012),
with bits for positions, and for each partition on its own.
"""

TEST_COST = 2.5
"""The cost of an expected test in pushed moves. A test takes as long as a pushed move, 0.8 ns on the machine of the
benchmarks; but about twice as many are needed as expected, since positions deeper than the next layer lead to the
frontier by no move, and a word of few unvisited bits costs a mispredicted branch."""


def pull_is_cheaper(frontier: float, open_positions: float, unvisited: int, moves: int) -> bool:
    """Whether it is cheaper to pull than to push.

    A push follows all ``moves`` of the ``frontier``. A pull tests the moves of each of the ``unvisited`` positions until
    one leads to the frontier. Such a position is no neighbour of visited positions before the frontier, since it would
    be visited too. So its moves lead to ``open_positions``, those of the frontier and the unvisited ones, and if all
    were alike, one test would succeed with the probability p = frontier / open positions. The expected number of tests
    up to a success, or to the last move, is (1 - (1 - p)^moves) / p.

    The frontier and the open positions are those of the partitions that the moves lead to, on average.
    """
    if not frontier:
        return False
    hit = frontier / open_positions
    tests = (1 - (1 - hit) ** moves) / hit
    return TEST_COST * unvisited * tests < frontier * moves
