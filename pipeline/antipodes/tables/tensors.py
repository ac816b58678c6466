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


def predict(distances: Callable[[ArrayLike], NDArray[np.int32]], states: Any) -> Any:
    """Return the distances of states as float32, infinite if they are negative: a tensor if the states are a tensor.

    The tensor is on the device of the states.
    """
    torch = sys.modules.get("torch")  # if the program has not imported it, no object is a tensor
    if torch is not None and isinstance(states, torch.Tensor):
        with guard(f"states: numpy cannot convert the tensor of {states.dtype}"):
            array = states.detach().cpu().numpy()
        return torch.from_numpy(predict(distances, array)).to(states.device)
    found = distances(states)
    return np.where(found < 0, np.float32(np.inf), found.astype(np.float32))


def estimates_of(model: Any, parts: Sequence[Part], encode: str) -> Callable[[Labels], Floats]:
    """Return a model as a function from positions ``(n, places)`` to its estimates ``(n,)``, which are checked.

    A model is a module of torch, which gets tensors on its own device, or an object with a method ``predict``, such as
    an estimator of scikit-learn. Both may return ``(n, 1)``, and numbers below 0. Anything else is a function, whose
    numbers must be at least 0.
    """
    torch, call = sys.modules.get("torch"), getattr(model, "predict", model)
    if torch is not None and isinstance(model, torch.nn.Module):
        call = partial(_in_evaluation_mode, torch, model)
    is_function = call is model
    if is_function and encode == LABELS:
        return checked_function(model)

    def estimates(labels: Labels) -> Any:
        found = call(encoded(parts, labels, encode))
        is_column = getattr(found, "shape", None) == (len(labels), 1)
        return found[:, 0] if is_column and not is_function else found

    return checked_function(estimates, name=name_of_function(model), minimum=0.0 if is_function else -np.inf)


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
    return np.asarray(output.float().cpu())


def encoded(parts: Sequence[Part], labels: Labels, encode: str) -> NDArray[Any]:
    """Return positions ``(n, places)`` as int64 labels, or as float32 with a column for each label of each place."""
    if encode == LABELS:
        return labels.astype(np.int64)
    sizes = moduli_of(parts)
    one_hot = np.zeros((len(labels), sum(sizes)), dtype=np.float32)
    one_hot[np.arange(len(labels))[:, np.newaxis], labels + (np.cumsum(sizes) - sizes)] = 1
    return one_hot
