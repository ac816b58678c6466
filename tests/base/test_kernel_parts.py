"""Functions that only kernels call."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.codegen import CPUCodeLibrary

SOURCE = """
from antipodes_tasks.base.jit import kernel

@kernel
def twice(number):
    return 2 * number

@kernel
def fourfold(number):
    return twice(twice(number))

@kernel
def eightfold(number):
    return twice(fourfold(number))

@kernel
def shown(numbers):
    print(numbers)
    return len(numbers)

@kernel
def length(numbers):
    return shown(numbers)
"""


@pytest.fixture
def kernels(tmp_path: Path) -> Any:
    """A module of kernels that have not been compiled."""
    path = tmp_path / "kernels_of_parts.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_kernel_is_optimised_once_together_with_its_parts(kernels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    optimised, optimise = list[str](), CPUCodeLibrary._optimize_final_module

    def listed(library: Any) -> None:
        optimised.append(library.name)
        optimise(library)

    monkeypatch.setattr(CPUCodeLibrary, "_optimize_final_module", listed)
    assert kernels.eightfold(5) == 40
    assert optimised == ["eightfold"]
    assert kernels.fourfold(5) == 20  # it is also a kernel of its own
    assert optimised == ["eightfold", "fourfold"]


def test_parts_use_no_python_objects(kernels: Any) -> None:
    with pytest.raises(NotImplementedError, match="uses Python objects"):
        kernels.length(np.zeros(2))
