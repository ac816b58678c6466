"""Known exact results, by the names of puzzles and boards; see `oracles.json`."""

import json
from pathlib import Path

ORACLES = json.loads((Path(__file__).parent / "oracles.json").read_text())
LAYERS: dict[str, list[int]] = {
    **{f"sliding {name}": ORACLES[f"sliding/{name}"]["layers"] for name in ("seed-1", "seed-2", "eight-puzzle")},
    **{
        name: ORACLES["permutation-families"][name]
        for name in ("pancake-9", "burnt_pancake-7", "top_spin-10", "lrx-10")
    },
    **{name: layers for name, layers in ORACLES["twisty"].items() if name.startswith("2x2x2")},
}
"""The sizes of the layers of puzzles of many kinds, by name."""
