"""The direction of a step of the search: push the frontier along its moves, or pull it to unvisited positions.

S. Beamer, K. Asanovic and D. Patterson, Direction-Optimizing Breadth-First Search (2012), for positions that are bits,
and for each partition on its own.
"""

TEST_COST = 3.0
"""The cost of an expected test in pushed moves. Fitted to six puzzles of 3 to 25 moves: push and pull take equally long
at 2.8 to 3.3 with 2x2x2, pancakes, burnt pancakes, TopSpin and pyraminx, and near 6 with Lights Out. Most of these are
interpolated between layers. Three colours of tiles never gain by a pull.

A test itself takes as long as a pushed move, 0.8 ns. But about twice as many are needed as expected: no move leads to
the frontier from positions deeper than the next layer. A word with few unvisited bits costs a mispredicted branch."""


def pull_is_cheaper(frontier: float, deeper: float, unvisited: int, moves: int) -> bool:
    """Whether it is cheaper to pull than to push.

    A push follows all ``moves`` of the ``frontier``. A pull tests the moves of each of the ``unvisited`` positions,
    until one leads to the frontier. No move leads from these to positions visited earlier: their neighbours are visited
    by now. So their moves lead to the frontier and to the ``deeper`` positions, which are unvisited. If all were alike,
    a test would succeed with the probability p = frontier / (frontier + deeper). The expected number of tests until one
    succeeds, or all moves are tested, is (1 - (1 - p)^moves) / p.

    The frontier and the deeper positions are those of a partition that the moves lead to, on average.
    """
    if TEST_COST * unvisited >= frontier * moves:  # each takes a test at least
        return False
    hit = frontier / (frontier + deeper)
    tests = (1 - (1 - hit) ** moves) / hit
    return TEST_COST * unvisited * tests < frontier * moves
