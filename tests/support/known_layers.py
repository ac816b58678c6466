"""The sizes of the layers of puzzles of many kinds, by name."""

from oracles import ORACLES

FAMILIES = ORACLES["permutation-families"]
LAYERS: dict[str, list[int]] = {
    **{f"sliding {name}": ORACLES[f"sliding/{name}"]["layers"] for name in ("seed-1", "seed-2", "eight-puzzle")},
    **{name: FAMILIES[name] for name in ("pancake-9", "burnt_pancake-7", "top_spin-10", "lrx-10")},
    **{name: layers for name, layers in ORACLES["twisty"].items() if name.startswith("2x2x2")},
}
