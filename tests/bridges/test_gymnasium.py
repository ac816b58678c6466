"""Environments of Gymnasium: its own check, and distances and best moves against the table."""

import sys
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import antipodes as ap
from antipodes_tasks.base.errors import InputError, UnfinishedError, UnreachableError


@pytest.mark.filterwarnings("error")
def test_an_environment_passes_the_check_of_gymnasium(finished: Path) -> None:
    environment = ap.bridges.gymnasium.make(finished, render_mode="rgb_array")
    check_env(environment, skip_render_check=True)  # which needs an environment that is registered by name
    environment.reset(options={"position": "1 2 3 4 5 6 7 8 0"})
    first = environment.render()
    assert (first.ndim, first.shape[2], first.dtype) == (3, 3, np.uint8)
    environment.step(environment.reset(seed=1)[1]["legal_moves"][0])
    assert (environment.render() != first).any()


def test_best_moves_lead_to_the_start(finished: Path) -> None:
    with ap.open_table(finished) as table:
        environment = ap.bridges.gymnasium.make(table, distances=[7, 9, 40])
        for seed in range(10):
            observation, info = environment.reset(seed=seed)
            distance = info["distance"]
            assert distance in (7, 9)
            while info["best_moves"].size:
                assert set(info["best_moves"]) <= set(info["legal_moves"])
                observation, reward, ended, truncated, info = environment.step(info["best_moves"][0])
                distance -= 1
                assert (info["distance"], reward, ended, truncated) == (distance, -1, distance == 0, False)
                assert info["distance"] == table.distance(observation)
            assert distance == 0
        assert np.array_equal(environment.reset(seed=3)[0], environment.reset(seed=3)[0])
        corner, info = environment.reset(options={"position": "1 2 3 4 5 6 7 8 0"})
        illegal = next(action for action in range(4) if action not in info["legal_moves"])
        assert np.array_equal(environment.step(illegal)[0], corner)
        with pytest.raises(UnreachableError, match="unreachable"):
            environment.reset(options={"position": "2 1 3 4 5 6 7 8 0"})
        with pytest.raises(InputError, match="expected an action from 0 to 3, found 4"):
            environment.step(4)


def test_bad_arguments(finished: Path, unfinished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = ap.bridges.gymnasium.make
    with pytest.raises(InputError, match="distances: expected some of 1 to 31"):
        make(finished, [0, 1])
    with pytest.raises(InputError, match="distances: expected some of 1 to 31"):
        make(finished, [32])
    with pytest.raises(InputError, match="render_mode: choose None or 'rgb_array', found 'human'"):
        make(finished, render_mode="human")
    with pytest.raises(UnfinishedError, match="resume with: antipodes resume"):
        make(unfinished)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(InputError, match=r"an environment needs gymnasium: pip install '\.\[gymnasium\]'"):
        make(finished)
