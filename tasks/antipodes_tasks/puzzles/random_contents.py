"""Contents of parts drawn at random, the same in every process and with every version of numpy."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.puzzles.moves.moves import Labels
from antipodes_tasks.puzzles.part import Part


def random_positions(parts: Sequence[Part], count: int, seed: str) -> Labels:
    """``(count, places)``: each part holds any of its contents, whether moves lead there or not."""
    drawn = [_drawn(part, count, f"{seed} {number}") for number, part in enumerate(parts)]
    return np.concatenate(drawn, axis=1)


def _drawn(part: Part, count: int, seed: str) -> Labels:
    numbers = random_numbers(count * part.places, seed).reshape(count, part.places)
    if part.counts is None:
        return (numbers % len(part.symbols)).astype(np.uint8)
    placed = np.repeat(np.arange(len(part.counts), dtype=np.uint8), part.counts)
    shuffled: Labels = placed[np.argsort(numbers, axis=1, kind="stable")]
    return shuffled


def random_numbers(count: int, seed: str) -> NDArray[np.uint64]:
    """``(count,)`` numbers below 2^64 from SHAKE-256, since the random numbers of numpy may change with its version."""
    return np.frombuffer(hashlib.shake_256(seed.encode()).digest(8 * count), dtype="<u8").astype(np.uint64)
