"""Tensors of torch: predictions of tables, and batches to train on. Only `make test-bridges` installs torch."""

import pickle
from itertools import islice
from pathlib import Path
from typing import Any

import notebooks
import numpy as np
import pytest

import antipodes as ap
from antipodes.puzzles.config import Config
from antipodes_tasks.base.errors import InputError, PositionError, UnfinishedError

torch = pytest.importorskip("torch")
LIGHTS = Config({"name": "lights", "family": "lights-out", "rows": 3, "columns": 3})


def drawn(dataset: Any, batches: int, workers: int = 0) -> tuple[Any, Any]:
    """The labels and distances of the first batches, as numpy arrays."""
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers)
    parts = list(islice(loader, batches))
    return tuple(torch.cat(one).numpy() for one in zip(*parts, strict=True))


def test_a_module_is_evaluated(finished: Path) -> None:
    """In evaluation mode and without gradients; afterwards, each part is in the same mode as before."""

    class Blank(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.dropout, self.frozen = torch.nn.Dropout(0.5), torch.nn.Dropout(0.5).eval()
            self.weight = torch.nn.Parameter(torch.full((81,), 1.0))

        def forward(self, inputs: Any) -> Any:
            assert not any((self.training, self.dropout.training, torch.is_grad_enabled()))
            return self.dropout(inputs @ self.weight).unsqueeze(1) - 9.5

    module = Blank()
    with ap.open_table(finished) as table:
        result = table.evaluate(module, encode="one-hot")
        assert (result.name, result.exhaustive, result.admissible) == ("Blank", True, True)
        assert np.nanmax(abs(result.mean + 0.5)) < 1e-6
        assert (module.training, module.dropout.training, module.frozen.training) == (True, True, False)
        with pytest.raises(InputError, match="the heuristic Blank: RuntimeError"):
            table.evaluate(module)
        assert module.training


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
            with pytest.raises((PositionError, InputError), match=message):
                table.predict(wrong)


@pytest.mark.slow
def test_workers_share_the_batches_of_one_process(finished: Path) -> None:
    with ap.open_table(finished) as table:
        dataset = ap.bridges.torch.distances(table, 64, seed=5, split="train")
        alone = drawn(dataset, 7)
        for workers in (1, 3):
            assert all(map(np.array_equal, alone, drawn(dataset, 7, workers)))
        assert all(map(np.array_equal, alone, drawn(pickle.loads(pickle.dumps(dataset)), 7)))
        assert not np.array_equal(alone[0], drawn(ap.bridges.torch.distances(table, 64, seed=6, split="train"), 7)[0])


@pytest.mark.parametrize("reduce", ["off", "on"])
def test_draws_are_uniform_in_the_table_or_in_each_depth(reduce: str, tmp_path: Path) -> None:
    with ap.open_table(ap.run(LIGHTS, tmp_path / "t.zarr", symmetry=reduce).store) as table:
        assert (table.space.stored.size < table.index_size) == (reduce == "on")
        for by in ("uniform", "depth"):
            labels, distances = drawn(ap.bridges.torch.distances(table, 51200, seed=1, by=by), 2)
            assert np.array_equal(distances, table.distances(labels))
            weights = 1 / np.array(table.layers)[table.distances(table.space.unrank(np.arange(512)))]
            expected = 102_400 * (np.full(512, 1 / 512) if by == "uniform" else weights / weights.sum())
            found = np.bincount(table.space.rank(labels), minlength=512)
            assert ((found - expected) ** 2 / expected).sum() < 650  # 511 degrees of freedom: once in 40,000 draws


def test_splits_are_those_of_parquet_and_have_all_images(tmp_path: Path) -> None:
    with ap.open_table(ap.run(LIGHTS, tmp_path / "t.zarr").store) as table:
        group, found = ap.symmetries(table.puzzle), {}
        for split in ("train", "test"):
            labels, _ = drawn(ap.bridges.torch.distances(table, 20_000, seed=1, split=split), 1)
            found[split] = set(table.space.rank(labels).tolist())
            images = np.concatenate([group.images(one) for one in np.unique(labels, axis=0)])
            assert set(table.space.rank(images).tolist()) == found[split]
        assert found["train"] | found["test"] == set(range(512))
        assert not found["train"] & found["test"]
        ap.bridges.parquet.export(table.address, tmp_path / "out")
        import pyarrow.parquet

        exported = pyarrow.parquet.read_table(tmp_path / "out" / "data" / "test-00000.parquet")
        assert set(exported["index"].to_pylist()) == found["test"]


def test_one_hot_columns_are_the_labels_of_the_places(finished: Path) -> None:
    labels, _ = drawn(ap.bridges.torch.distances(finished, 100, seed=1), 2)
    encoded, _ = drawn(ap.bridges.torch.distances(finished, 100, seed=1, encode="one-hot"), 2)
    assert (encoded.dtype, encoded.shape) == (np.float32, (200, 81))
    assert np.array_equal(encoded.reshape(200, 9, 9).argmax(axis=2), labels)
    assert (encoded.sum(axis=1) == 9).all()


def test_bad_arguments(finished: Path, unfinished: Path) -> None:
    for wrong, message in (
        ({"batch_size": 0}, "batch_size of at least 1"),
        ({"seed": -1}, "a seed of at least 0"),
        ({"split": "dev"}, "split: choose None or 'train' or 'test', found 'dev'"),
        ({"by": "size"}, "by: choose 'uniform' or 'depth'"),
        ({"encode": 1}, "encode: choose 'labels' or 'one-hot', found int 1"),
    ):
        with pytest.raises(InputError, match=message):
            ap.bridges.torch.distances(**{"table": finished, "batch_size": 10, "seed": 1, **wrong})
    with pytest.raises(UnfinishedError, match="resume with: antipodes resume"):
        ap.bridges.torch.distances(unfinished, 10, 1)


def test_the_notebook_trains_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its outputs are not compared: they depend on the version of torch and on the processor."""
    monkeypatch.chdir(tmp_path)
    (notebook,) = notebooks.LEARNING
    names = notebooks.run(notebook)
    evaluation = names["evaluation"]
    assert evaluation.exhaustive
    assert evaluation.count.sum() == 3_674_160
    assert np.nanmean(evaluation.absolute_error) < 2  # 3 with the best constant
    without_estimates, *guided = names["answers"]
    assert without_estimates.distance == 11
    assert all(answer.distance >= 11 and 10 * answer.expanded < without_estimates.expanded for answer in guided)
