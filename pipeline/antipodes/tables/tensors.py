"""What models read and return: encoded positions, and floats in numpy arrays or tensors of torch."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.rules.custom_function import guard
from antipodes_tasks.rules.parts import Part, moduli_of

LABELS, ONE_HOT = ENCODINGS = ("labels", "one-hot")
"""The forms in which positions are passed to models."""


def imported_torch() -> Any:
    """Return the module torch if the program has imported it, otherwise None: then no object is a tensor."""
    return sys.modules.get("torch")


def predict(distances: Callable[[ArrayLike], NDArray[np.int32]], states: Any) -> Any:
    """Return the distances of states as float32, infinite if they are negative: a tensor if the states are a tensor.

    The tensor is on the device of the states.
    """
    torch = imported_torch()
    if torch is None or not isinstance(states, torch.Tensor):
        return _as_floats(distances(states))
    with guard(f"states: numpy cannot convert the tensor of {states.dtype}"):
        array = states.detach().cpu().numpy()
    return torch.from_numpy(_as_floats(distances(array))).to(states.device)


def _as_floats(distances: NDArray[np.int32]) -> NDArray[np.float32]:
    return np.where(distances < 0, np.float32(np.inf), distances.astype(np.float32))


def encoded(parts: Sequence[Part], labels: Labels, encode: str) -> NDArray[Any]:
    """Return positions ``(n, places)`` as int64 labels, or as float32 with a column for each label of each place."""
    if encode == LABELS:
        return labels.astype(np.int64)
    sizes = moduli_of(parts)
    columns = labels + (np.cumsum(sizes) - sizes)
    one_hot = np.zeros((len(labels), sum(sizes)), dtype=np.float32)
    one_hot[np.arange(len(labels))[:, np.newaxis], columns] = 1
    return one_hot
