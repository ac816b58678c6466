import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command
from stores import contents

from antipodes.config import load_config
from antipodes.events import Assembling, Event
from antipodes.tables.run import run_puzzle


def test_json(cli: Command, unfinished: Path, finished: Path) -> None:
    outcome = cli("resume", unfinished, "--json", "--workers", 1)
    report = json.loads(outcome.out)
    assert (outcome.status, report["complete"], report["resumed_from"]) == (0, True, 10)
    assert (report["states"], report["radius"], report["antipodes"]) == (181440, 31, 2)
    assert " eight-puzzle: resumes from depth 10" in outcome.err
    assert contents(unfinished) == contents(finished)


def test_a_resume_that_only_assembles_says_so(cli: Command, tmp_path: Path) -> None:
    store, events = tmp_path / "searched.zarr", list[Event]()
    run_puzzle(
        load_config("eight-puzzle"),
        store,
        listener=events.append,
        interrupted=lambda: any(isinstance(one, Assembling) for one in events),
    )
    told = cli("resume", store).out
    assert re.search(r"\ntime    [\d.]+ s: every position was found by earlier runs, writing [\d.]+\nmemory", told)
    assert "none: it was already complete" in cli("resume", store).out


def test_a_finished_store_is_reported(cli: Command, eight: Path) -> None:
    outcome = cli("resume", eight, "--json")
    assert (outcome.status, json.loads(outcome.out)["resumed_from"]) == (0, 31)


@pytest.mark.parametrize("option", [["--workers", "0"], ["--memory-limit", "1KB"], ["--overwrite"], ["extra"]])
def test_bad_usage(option: list[str], refused: Callable[..., str], unfinished: Path) -> None:
    before = contents(unfinished)
    refused("resume", unfinished, *option)
    assert contents(unfinished) == before


@pytest.mark.parametrize("folder", ["journal", "depth"])
def test_a_link_in_place_of_a_folder(folder: str, unfinished: Path, refused: Callable[..., str]) -> None:
    """It may come with a store from elsewhere, and lead to files of the person who resumes."""
    mine = unfinished.with_name("mine")
    if (unfinished / folder).exists():
        (unfinished / folder).rename(mine)
    mine.mkdir(exist_ok=True)
    (mine / "zarr.json").write_text("mine")
    (unfinished / folder).symlink_to(mine)
    before = contents(mine)
    assert f"expected a folder at {unfinished / folder}, found a link" in refused("resume", unfinished, status=1)
    assert contents(mine) == before


def test_no_store_to_resume(refused: Callable[..., str]) -> None:
    assert "none.zarr" in refused("resume", "none.zarr")
    refused("resume")
