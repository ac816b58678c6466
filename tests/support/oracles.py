"""Known exact results, by the names of puzzles and boards; see `oracles.json`."""

import json
from pathlib import Path

ORACLES = json.loads((Path(__file__).parent / "oracles.json").read_text())
