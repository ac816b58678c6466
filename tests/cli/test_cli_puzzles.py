import json

from programs import Command

from antipodes.config import bundled_configs


def test_json(cli: Command) -> None:
    outcome = cli("puzzles", "--json")
    listed = json.loads(outcome.out)
    assert (outcome.status, outcome.err) == (0, "")
    assert [one["name"] for one in listed] == list(bundled_configs())
    assert all({"name", "family", "index_size", "description"} <= set(one) for one in listed)
    assert {one["name"]: one["index_size"] for one in listed}["seven-tiles"] == 518_918_400


def test_text_has_a_line_a_puzzle(cli: Command) -> None:
    lines = cli("puzzles").out.splitlines()
    assert len(lines) == len(bundled_configs())
    assert any("five-tiles" in line and "5,765,760" in line for line in lines)
