"""Generators of the Mathieu groups, and the elements of groups by brute force."""

from collections.abc import Sequence

from brute_force import distances

Group = list[list[int]]


def permutation(points: int, *cycles: Sequence[int]) -> list[int]:
    """Return the image of each point, counted from 0; the cycles count points from 1, as in books."""
    images = list(range(points))
    for cycle in cycles:
        for point, image in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            images[point - 1] = image - 1
    return images


M11 = [permutation(11, range(1, 12)), permutation(11, [3, 7, 11, 8], [4, 10, 5, 6])]
M12 = [
    permutation(12, range(1, 12)),
    permutation(12, [3, 7, 11, 8], [4, 10, 5, 6]),
    permutation(12, [1, 12], [2, 11], [3, 6], [4, 8], [5, 9], [7, 10]),
]
M24 = [
    permutation(24, range(1, 24)),
    permutation(24, [3, 17, 10, 7, 9], [4, 13, 14, 19, 5], [8, 18, 11, 12, 23], [15, 20, 22, 21, 16]),
    permutation(
        24,
        *([1, 24], [2, 23], [3, 12], [4, 16], [5, 18], [6, 10], [7, 20], [8, 14], [9, 21], [11, 17], [13, 22]),
        [15, 19],
    ),
]


def elements(generators: Group) -> set[tuple[int, ...]]:
    """Return all products of the generators."""
    identity = tuple(range(len(generators[0])))
    return set(distances([identity], lambda one: (tuple(each[image] for image in one) for each in generators)))
