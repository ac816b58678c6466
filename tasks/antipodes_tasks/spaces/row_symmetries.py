"""Which symmetries map the rows of a cut to rows, so that the cut can be reduced by them."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.permutations.parity import parities
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.spaces.orbit_parts import PartIndex, ValuesIndex
from antipodes_tasks.spaces.rows_and_columns import Cut


def maps_rows_to_rows(cut: Cut, images: Images) -> NDArray[np.bool_]:
    """Return a mask ``(n,)`` of the symmetries that map rows to rows."""
    return np.array([_fits(cut, images, number) for number in range(len(images))], dtype=np.bool_)


def _fits(cut: Cut, images: Images, number: int) -> bool:
    """Return whether the row of a position determines the row of its image and how the contents are rearranged."""
    for origin in range(cut.places):
        to = int(images.places[number, origin])
        if cut.radices[origin] != cut.radices[to]:
            return False
        known = np.arange(int(images.moduli[origin]))
        after = images.labels[number, origin, known]
        pairs = set(zip(cut.row_label_of[origin, known].tolist(), cut.row_label_of[to, after].tolist(), strict=True))
        if len(pairs) != len({one for one, _ in pairs}) or len(pairs) != len({other for _, other in pairs}):
            return False
        if ((cut.block_of[origin, known] < 0) != (cut.block_of[to, after] < 0)).any():
            return False
        if not _turn_is_known(cut, images, number, origin):
            return False
    sums = (_keeps_sum(images, number, part) for part in cut.parts if isinstance(part, ValuesIndex))
    return all(sums) and all(_keeps_parity(cut, images, number, part) for part in cut.parts)


def _keeps_parity(cut: Cut, images: Images, number: int, part: PartIndex) -> bool:
    """Return whether the images of all numbered arrangements of a part are numbered."""
    if isinstance(part, ValuesIndex) or part.parity is None:
        return True
    to = images.places[number, part.place_slice]
    image = next(one for one in cut.parts if one.place_slice.start <= to.min() < one.place_slice.stop)
    if isinstance(image, ValuesIndex) or image.parity is None:
        return False
    names = images.labels[number, part.place_slice.start, : len(part.pieces)]
    odd = int(parities(np.stack((to - image.place_slice.start, names.astype(np.int64)))).sum()) % 2
    return bool((np.array(image.parity)[to - image.place_slice.start] == (np.array(part.parity) ^ odd)).all())


def _turn_is_known(cut: Cut, images: Images, number: int, place: int) -> bool:
    """Return whether it is known which number the symmetry adds to the twist on a place.

    The row must determine this number, unless piece and twist are both in the column. If the twist is in the row
    and the number depends on the piece, the piece must be in the row, too.
    """
    carrier = int(images.carriers[place])
    pieces = np.arange(int(images.moduli[carrier]))
    turns = images.turns[number, place, pieces]
    if carrier == place or not turns.any():
        return True
    if (turns == turns[0]).all():
        return True
    classes = cut.row_label_of[carrier, pieces]
    by_class = all((turns[classes == one] == turns[classes == one][0]).all() for one in set(classes.tolist()))
    if cut.radices[place] > 1:
        return by_class and int(cut.twist_at[carrier]) == place
    return by_class or bool(cut.carried[place])


def _keeps_sum(images: Images, number: int, part: ValuesIndex) -> bool:
    """Return whether values with equal sums have images with equal sums; True if all sums are numbered."""
    values = np.arange(part.radix)
    renamed = images.labels[number, part.place_slice, : part.radix].astype(np.int64)
    sign = renamed[0, 1] - renamed[0, 0] if part.radix > 1 else 1
    return part.total is None or bool(((renamed - renamed[:, :1] - sign * values) % part.radix == 0).all())
