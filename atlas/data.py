"""The atlas as data: the numbers of the page, and the definitions they belong to, for other programs."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from antipodes.config import load_config
from atlas.entries import CHAPTERS, FAMILIES, TOO_LARGE, Family
from atlas.results import Result, Results


def data(results: Results) -> str:
    """The whole file, which fits docs/schemas/atlas.json; a line for each puzzle and each size."""
    puzzles = [
        _puzzle(name, chapter, source, results.puzzles[name])
        for chapter, sources in CHAPTERS.items()
        for name, source in sources.items()
    ]
    sizes = [
        _size(family, size, layers) for family in FAMILIES for size, layers in results.families[family.title].items()
    ]
    left_out = [{"name": name, "reason": reason} for name, reason in TOO_LARGE.items()]
    head = f'"format": "antipodes-atlas",\n"version": 1,\n"machine": {json.dumps(results.machine)}'
    parts = {"puzzles": puzzles, "families": sizes, "left_out": left_out}
    return "{\n" + ",\n".join([head, *(f'"{name}": {_lines(values)}' for name, values in parts.items())]) + "\n}\n"


def _lines(values: Sequence[Mapping[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(value, ensure_ascii=False) for value in values) + "\n]"


def _puzzle(name: str, chapter: str, source: str, result: Result) -> dict[str, Any]:
    config = load_config(name)
    return {
        "name": name,
        "chapter": chapter,
        "definition": dict(config.settings),
        "fingerprint": config.puzzle.fingerprint,
        "index_size": result.index_size,
        **_numbers(result.layers),
        "antipode": result.antipode,
        "seconds": result.seconds,
        "symmetries": result.symmetries,
        "unique": result.unique,
        "published": source or None,
    }


def _size(family: Family, size: str, layers: Sequence[int]) -> dict[str, Any]:
    return {"family": family.title, "size": size, "definition": family.settings(size), **_numbers(layers)}


def _numbers(layers: Sequence[int]) -> dict[str, Any]:
    return {"positions": sum(layers), "radius": len(layers) - 1, "antipodes": layers[-1], "layers": layers}
