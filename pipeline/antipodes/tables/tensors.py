"""What models read and return: encoded positions, and floats in numpy arrays or tensors of torch."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.properties.heuristic_function import Floats, checked_function, name_of_function
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


def estimates_of(model: Any, parts: Sequence[Part], encode: str) -> Callable[[Labels], Floats]:
    """Return a model as a function from positions ``(n, places)`` to its estimates ``(n,)``, which are checked.

    A model is a module of torch, which gets tensors on its own device, or an object with a method ``predict``, such as
    an estimator of scikit-learn. Both may return ``(n, 1)``, and numbers below 0. Anything else is a function, whose
    numbers must be at least 0.
    """
    torch, name = imported_torch(), name_of_function(model)
    if torch is not None and isinstance(model, torch.nn.Module):
        call = partial(_in_evaluation_mode, torch, model)
    elif hasattr(model, "predict"):
        call = model.predict
    else:
        uses_labels = encode == LABELS
        return checked_function(model if uses_labels else lambda x: model(encoded(parts, x, encode)), name=name)

    def predictions(labels: Labels) -> Any:
        found = call(encoded(parts, labels, encode))
        return found[:, 0] if getattr(found, "shape", None) == (len(labels), 1) else found

    return checked_function(predictions, name=name, minimum=-np.inf)


def _in_evaluation_mode(torch: Any, model: Any, inputs: NDArray[Any]) -> NDArray[Any]:
    """Return the output of a module without gradients; afterwards, each of its parts is in the same mode as before."""
    device = next((one.device for one in model.parameters()), None)
    training = [part for part in model.modules() if part.training]
    model.eval()
    try:
        with torch.no_grad():
            output = model(torch.from_numpy(inputs).to(device))
    finally:
        for part in training:
            part.training = True
    found: NDArray[Any] = output.float().cpu().numpy()
    return found


def encoded(parts: Sequence[Part], labels: Labels, encode: str) -> NDArray[Any]:
    """Return positions ``(n, places)`` as int64 labels, or as float32 with a column for each label of each place."""
    if encode == LABELS:
        return labels.astype(np.int64)
    sizes = moduli_of(parts)
    columns = labels + (np.cumsum(sizes) - sizes)
    one_hot = np.zeros((len(labels), sum(sizes)), dtype=np.float32)
    one_hot[np.arange(len(labels))[:, np.newaxis], columns] = 1
    return one_hot
