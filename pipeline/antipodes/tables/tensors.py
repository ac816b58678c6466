"""Distances in the form in which models return their predictions: floats, in numpy arrays or tensors of torch."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.rules.custom_function import guard


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
