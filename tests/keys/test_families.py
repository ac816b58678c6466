"""Random puzzles of every family as keys, in every packing: positions, layers and successors against the rules."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_moves import as_functions
from strategies import additive_settings, blocks_settings, jump_settings, sliding_settings
from transform_puzzles import transform_puzzles

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import FieldError
from antipodes_tasks.keys import bit_fields
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.identical_pieces import shared
from antipodes_tasks.keys.packing import Packing, packing_of, rows_of
from antipodes_tasks.keys.ranges import layers
from antipodes_tasks.keys.sorted_keys import sorted_unique
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps

ENOUGH = 300
"""Positions after which no further layer is compared."""
SHORT = 10
"""Bits of words that make several of most keys."""
Layers = list[set[bytes]]


def settings_of(families: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Puzzle]:
    return families.map(puzzle_from)


FAMILIES = {
    "moves of labels": transform_puzzles(),
    "tiles": settings_of(sliding_settings()),
    "slides": settings_of(sliding_settings().map(lambda settings: {**settings, "metric": "slides"})),
    "free tiles": settings_of(additive_settings()),
    "jumps": settings_of(jump_settings()),
    "blocks": settings_of(blocks_settings()),
    "functions": transform_puzzles().map(lambda puzzle: as_functions(puzzle, inverses=False)),
}


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_layers_of_keys_are_those_of_positions(family: str, data: st.DataObject) -> None:
    check(data.draw(FAMILIES[family]).rules)


@pytest.mark.parametrize("name", ["two-blanks", "3x3x3", "knights-labelled"])
def test_bundled_puzzles(name: str) -> None:
    check(load_config(name).puzzle.rules)


def check(rules: Rules) -> None:
    expected = layers_by_rules(rules)
    for word in (bit_fields.WORD, SHORT):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bit_fields, "WORD", word)
            for packing in packings(rules):
                assert packing_of(json.loads(json.dumps(packing.record()))) == packing
                assert layers_by_keys(rules, packing, len(expected)) == expected


def packings(rules: Rules) -> Iterator[Packing]:
    """The packing that is chosen, and others of the same positions."""
    chosen = Packing.of(rules)
    yield chosen
    if rules.footprints is not None:  # no pieces are sets; those are that have room at least
        yield replace(chosen, groups=shared([len(labels) for labels in chosen.contents]), pieces=())
        labels = sorted(set().union(*chosen.contents) - {0})
        counts = [(label, int((rules.start_labels[0] == label).sum())) for label in labels]
        try:
            every = replace(chosen, groups=(1,) * rules.places, pieces=tuple(reversed(counts)))
            assert every.words
        except FieldError:  # too many sets
            return
        yield every
    elif isinstance(rules.moves, Swaps):
        yield replace(chosen, groups=shared(chosen.radices))
        yield replace(chosen, groups=())


def layers_by_rules(rules: Rules) -> Layers:
    """The positions at each depth, up to the layer with which there are enough."""
    layer = {bytes(one) for one in rules.start_labels}
    seen, found = set[bytes](), []
    while layer:
        found.append(layer)
        seen |= layer
        if len(seen) > ENOUGH:
            break
        after = (rules.moves.successors(np.frombuffer(one, dtype=np.uint8)) for one in layer)
        layer = {bytes(one) for several in after for one in several} - seen
    return found


def layers_by_keys(rules: Rules, packing: Packing, count: int) -> Layers:
    found = []
    for keys, _ in zip(layers(Expansion(rules, packing), packing.pack(rules.start_labels)), range(count), strict=False):
        labels = packing.unpack(keys)
        assert (packing.pack(labels) == keys).all()
        assert packing.fit(labels).all()
        assert keys.shape[1:] == (() if packing.words == 1 else (packing.words,))
        assert (rows_of(sorted_unique(keys.copy())) == rows_of(keys)).all()
        found.append({bytes(one) for one in labels})
    return found
