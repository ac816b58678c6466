"""Time of ranking and unranking all permutations of 11 elements, by each algorithm."""

import argparse
import time
from math import factorial

import numpy as np

from antipodes_tasks.permutations.ranks import ALGORITHMS, Algorithm, rank, unrank

BATCH = 1 << 20


def measure(algorithm: Algorithm, elements: int) -> tuple[float, float]:
    """Return the seconds to unrank and to rank every permutation, in batches to limit the memory."""
    count = factorial(elements)
    to_permutations = to_ranks = 0.0
    for first in range(0, count, BATCH):
        batch = np.arange(first, min(first + BATCH, count))
        begin = time.perf_counter()
        permutations = unrank(batch, elements, algorithm)
        middle = time.perf_counter()
        ranks = rank(permutations, algorithm)
        to_permutations += middle - begin
        to_ranks += time.perf_counter() - middle
        if (ranks != batch).any():
            raise AssertionError(f"{algorithm}: ranking an unranked permutation gives a different rank")
    return to_permutations, to_ranks


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=11)
    elements = parser.parse_args().elements
    print(f"{factorial(elements):,} permutations of {elements} elements, one thread, batches of {BATCH:,}")
    print(f"{'algorithm':<10} {'unrank':>8} {'rank':>8}  seconds")
    for algorithm in ALGORITHMS:
        rank(unrank([0], elements, algorithm), algorithm)
        print("{:<10} {:8.2f} {:8.2f}".format(algorithm, *measure(algorithm, elements)))


if __name__ == "__main__":
    main()
