import json
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command


@pytest.mark.slow
def test_graph(cli: Command, tmp_path: Path) -> None:
    outcome = cli("graph", "eight-puzzle", "--to", "eight.npz")
    assert (outcome.status, outcome.out) == (0, "")
    assert outcome.err.endswith("antipodes: 181,440 positions and 483,840 moves written to eight.npz\n")
    assert (tmp_path / "eight.npz").stat().st_size > 1000


def test_json(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(
        '[puzzle]\nname = "line"\nfamily = "sliding"\nrows = 1\ncolumns = 3\nstart = "1 2 0"\n'
    )
    shown = json.loads(cli("graph", "line.toml", "--to", "line.csv", "--json").out)
    assert shown == {"puzzle": "line", "file": "line.csv", "nodes": 3, "edges": 4}
    assert (tmp_path / "line.csv").read_text() == "before,after,move\n0,1,R\n1,0,L\n1,2,R\n2,1,L\n"
    assert (tmp_path / "line.nodes.csv").read_text() == "node,depth,position\n0,0,1 2 0\n1,1,1 0 2\n2,2,0 1 2\n"


@pytest.mark.slow
def test_components(cli: Command) -> None:
    outcome = cli("components", "klotski", "--limit", 2)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "components  positions of each  radius  a position",
        "         1             25,955     169  AABC/AABC/EEDF/GHDF/IJ..",
        "         1             25,955     140  AAEE/AABC/DFBC/DFGH/IJ..",
        "65,880 positions in 898 components",
        "and 135 more lines: --limit 137",
    ]


def test_components_as_json(cli: Command) -> None:
    shown = json.loads(cli("components", "eight-puzzle", "--json").out)
    (one,) = shown.pop("components")
    assert one == {"size": 181440, "radius": 31, "count": 2, "example": "0 1 2 3 4 5 6 7 8"}
    assert shown == {"weakly_connected": 2}


LANE = """[puzzle]
name = "lane"
family = "blocks"
axis = true
distinct = true
start = "AA.BB.."
"""


def test_the_hardest_start_of_all(tmp_path: Path, cli: Command, refused: Callable[..., str]) -> None:
    lane = tmp_path / "lane.toml"
    lane.write_text(LANE, encoding="utf-8")
    outcome = cli("components", lane, "--goal", "?????AA", "--limit", 1)
    found = "1 position 3 moves from the nearest of 4 goals; 10 of 20 positions reach one"
    assert outcome.out.splitlines() == [found, "BBAA..."]
    shown = json.loads(cli("components", lane, "--goal", "?????AA", "--among", "??AA???", "--json").out)
    assert (shown["distance"], shown["total"]) == (3, 3)
    assert "can only be used with --goal" in refused("components", lane, "--among", "??AA???")
    assert "can reach a goal" in refused("components", lane, "--goal", "?????AA", "--among", "AABB???")
