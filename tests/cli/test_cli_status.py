import json
from pathlib import Path

from programs import Command

from antipodes.config import load_config
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.store.table_store import TableStore


def test_json(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("status", finished, "--json").out)
    assert {"puzzle", "complete", "committed_depth", "states", "layers", "bytes"} <= set(shown)
    assert (shown["puzzle"], shown["complete"], shown["committed_depth"]) == ("eight-puzzle", True, 31)
    assert shown["states"] == sum(shown["layers"]) == 181440
    assert shown["bytes"] == sum(path.stat().st_size for path in finished.rglob("*") if path.is_file())


def test_unfinished(cli: Command, unfinished: Path) -> None:
    shown = json.loads(cli("status", unfinished, "--json").out)
    assert (shown["complete"], shown["committed_depth"], len(shown["layers"])) == (False, 10, 11)
    assert f"antipodes resume {unfinished}" in cli("status", unfinished).out


def test_nothing_committed(cli: Command, tmp_path: Path) -> None:
    config = load_config("eight-puzzle")
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle))
    shown = json.loads(cli("status", "t.zarr", "--json").out)
    assert (shown["committed_depth"], shown["states"], shown["layers"]) == (None, 0, [])
    assert "nothing yet" in cli("status", "t.zarr").out


def test_by_the_name_of_a_puzzle(cli: Command) -> None:
    cli("run", "eight-puzzle", "--quiet")
    assert "finished" in cli("status", "eight-puzzle").out
