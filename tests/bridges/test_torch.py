"""Tensors of torch: predictions of tables. Only `make test-bridges` installs torch."""

from pathlib import Path

import numpy as np
import pytest

import antipodes as ap
from antipodes_tasks.base.errors import PositionError

torch = pytest.importorskip("torch")


def test_a_table_predicts_tensors(finished: Path) -> None:
    with ap.open_table(finished) as table:
        positions, distances = table.dataset(1000, seed=1)
        for dtype in (torch.int64, torch.int32, torch.uint8):
            predicted = table.predict(torch.from_numpy(positions).to(dtype))
            assert (predicted.dtype, predicted.tolist()) == (torch.float32, distances.tolist())
        exchanged = torch.tensor([[2, 1, 3, 4, 5, 6, 7, 8, 0]])
        assert table.predict(exchanged).tolist() == [np.inf]
        assert table.predict(exchanged[:0]).shape == (0,)
        for wrong, message in (
            (exchanged[0], r"expected positions \(n, 9\), found an array \(9,\)"),
            (exchanged[:, :4], "expected positions of 9 places"),
            (exchanged.float(), "of integers, found float32"),
            (exchanged.bfloat16(), "cannot convert the tensor of torch.bfloat16"),
            (exchanged.bool(), "of integers, found bool"),
            (exchanged + 1, "expected labels 0 to 8, found 9"),
        ):
            with pytest.raises((PositionError, ap.errors.InputError), match=message):
                table.predict(wrong)
