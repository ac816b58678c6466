"""Forged manifests of every kind of store: whatever a value is replaced by, each command prints one line."""

import copy
import json
import random
import warnings
from pathlib import Path
from typing import Any

import all_stores
import pytest
from hypothesis import settings
from programs import Command
from stores import change_manifest, read_manifest, write_manifest

from antipodes.storage.backend import MANIFEST

VALUES: list[Any] = [
    None, True, -1, 0, 1, 2, 255, 2**31, 2**40, 2**63, 2**64, 10**400, 1.5, 1e300, "", "x", "../..", "0" * 64, "AAAA",
    [], [0], [[]], [-1] * 9, [10**9] * 9, ["x"] * 9, [[2**40, 1]], {}, {"": 0}, {"a": {"b": []}},
    json.loads("[" * 50 + "]" * 50),
]  # fmt: skip
COMMANDS = [
    ["status", "STORE"],
    ["list", "."],
    ["layers", "STORE"],
    ["verify", "STORE", "--quiet"],
    ["query", "STORE", "--depth", "2", "--limit", "2"],
    ["farthest", "STORE"],
    ["show", "STORE"],
    ["resume", "STORE", "--quiet", "--workers", "1"],
]
ANSWERS = ("query", "farthest", "show")
"""Commands that print what they read: either the same as before, or an error."""
CHANGES = 4 * settings.default.max_examples
UNKNOWN = {"name": "p", "family": "python"}
"""Settings of a puzzle in Python that is not known here."""


def places_in(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON value."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    return [path for key, one in items for path in [(*here, key), *places_in(one, (*here, key))]]


def changed(content: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], str]:
    """A manifest with one other value, half of the time in the details, and sometimes of a puzzle that is not known.

    Also the field whose value was changed.
    """
    found = copy.deepcopy(content)
    field = rng.choice(["details" if rng.random() < 0.5 else "puzzle", *content])
    path = rng.choice([one for one in places_in(content) if one[0] == field] or [(rng.choice([*content]),)])
    place: Any = found
    for key in path[:-1]:
        place = place[key]
    if rng.random() < 0.15:
        del place[path[-1]]
    elif rng.random() < 0.1 and isinstance(place, dict):
        place["../extra"] = rng.choice(VALUES)
    else:
        place[path[-1]] = rng.choice(VALUES)
    if rng.random() < 0.25 and isinstance(found.get("puzzle"), dict):
        found["puzzle"], field = UNKNOWN, "puzzle"
    return found, field


LIKE_OTHERS = ("unfinished counts", "counts of keys", "unfinished counts of keys", "unfinished reduced", "moved starts")
KINDS = [kind for kind in all_stores.KINDS if kind not in LIKE_OTHERS]
"""Kinds whose manifests differ in their fields."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_answer_or_one_line_for_any_other_value(kind: str, cli: Command, tmp_path: Path) -> None:
    """Names and symbols of the puzzle are the only values that change an answer."""
    rng = random.Random(kind)
    original = read_manifest(all_stores.store_of(kind, tmp_path / "here" / "t.zarr") / MANIFEST)
    right = {
        command: cli(command, *(tmp_path / "here" / "t.zarr" if one == "STORE" else one for one in arguments))
        for command, *arguments in COMMANDS
        if command in ANSWERS
    }
    for _ in range(CHANGES):
        store = all_stores.store_of(kind, tmp_path / "here" / "t.zarr")
        manifest, field = changed(original, rng)
        write_manifest(store / MANIFEST, manifest)
        command, *arguments = rng.choice(COMMANDS)
        there = {"STORE": store, ".": store.parent}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            outcome = cli(command, *(there.get(one, one) for one in arguments))
        assert len(outcome.err.splitlines()) <= 1, (manifest, outcome)
        assert outcome.status in (0, 1, 2, 75), (manifest, outcome)
        assert not {"Traceback", "unexpected", "out of memory"} & {*outcome.err.split()}, (manifest, outcome)
        if outcome.status == 0 and command in ANSWERS and field not in ("puzzle", "board"):
            assert outcome == right[command], (field, manifest)


PACKING = ("details", "packing")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("details",), {}),
        (("details",), {"packing": None, "bounds": [], "one_way": False, "reached": None}),
        (PACKING, None),
        (PACKING, 5),
        (PACKING, [1]),
        ((*PACKING, "contents"), 2**40),
        ((*PACKING, "contents", 0), {}),
        ((*PACKING, "groups"), [20]),
        ((*PACKING, "groups"), "x"),
        ((*PACKING, "pieces"), [[[1], 2]]),
        ((*PACKING, "footprints"), 3),
        ((*PACKING, "footprints", "rest"), None),
        ((*PACKING, "footprints", "every"), {"a": 1}),
        ((*PACKING, "footprints", "every", 0, 1), []),
        ((*PACKING, "footprints", "every", 0, 2), [[]]),
        ((*PACKING, "version"), "2"),
        (("details", "bounds"), 7),
        (("details", "bounds"), [True]),
        (("details", "one_way"), "no"),
        (("details", "reached"), "x"),
        (("details", "reached"), -5),
        (("details", "reached"), 2**64),
    ],
)
def test_details_of_keys(path: tuple[Any, ...], value: Any, cli: Command, tmp_path: Path) -> None:
    """Of puzzles that are known, and of puzzles that are not."""
    for kind, known in (("keys", False), ("unfinished keys", True), ("unfinished counts of keys", False)):
        store = all_stores.store_of(kind, tmp_path / kind / "t.zarr")
        manifest = read_manifest(store / MANIFEST)
        place: Any = manifest
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        change_manifest(store, details=manifest["details"], **({} if known else {"puzzle": UNKNOWN}))
        for command, *arguments in COMMANDS:
            if command in (("status", "resume") if "counts" in kind else ("status", "verify", "query", "resume")):
                outcome = cli(command, *(store if one == "STORE" else one for one in arguments))
                text = outcome.out + outcome.err if command == "verify" else outcome.err
                assert outcome.status == 1, (command, outcome)
                assert f"{MANIFEST} is corrupt: " in text, (command, outcome)
                assert len(text.splitlines()) == 1, (command, outcome)


@pytest.mark.parametrize(("kind", "words"), [("keys", 1), ("counts of keys", 1), ("keys of two words", 2)])
def test_antipodes_have_the_size_of_a_key(kind: str, words: int, cli: Command, tmp_path: Path) -> None:
    store = all_stores.store_of(kind, tmp_path / "t.zarr")
    *others, _ = read_manifest(store / MANIFEST)["antipodes"]
    change_manifest(store, antipodes=[*others, 1 << 64 * words])
    for command in ("status", "resume", "farthest"):
        outcome = cli(command, store)
        assert outcome.status == 1, (command, outcome)
        assert f"{MANIFEST} is corrupt: antipodes: expected ascending keys of at most {64 * words} bits" in outcome.err
