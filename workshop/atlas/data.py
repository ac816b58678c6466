"""The atlas as data for other programs: the numbers of the page, with the definitions of the puzzles."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from antipodes.puzzles.config import load_config
from workshop.atlas.entries import CHAPTERS, FAMILIES, TOO_LARGE, Family
from workshop.atlas.published import Published, published, published_radii, searched
from workshop.atlas.results import Result, Results


def data(results: Results) -> str:
    """Return the text of the file, valid under docs/schemas/atlas.json, with one line for each puzzle and each size."""
    puzzles = [_puzzle(name, chapter, results.puzzles[name]) for chapter, names in CHAPTERS.items() for name in names]
    sizes = [
        _size(family, size, layers) for family in FAMILIES for size, layers in results.families[family.title].items()
    ]
    left_out = [{"name": name, "reason": reason} for name, reason in TOO_LARGE.items()]
    head = {"format": "antipodes-atlas", "version": 2, "machine": results.machine, "searched": searched()}
    lists = {"puzzles": puzzles, "families": sizes, "left_out": left_out}
    texts = {name: _text(value) for name, value in head.items()} | {name: _lines(each) for name, each in lists.items()}
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in texts.items()) + "\n}\n"


def _lines(values: Sequence[Mapping[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(_text, values)) + "\n]"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _puzzle(name: str, chapter: str, result: Result) -> dict[str, Any]:
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
        "published": [_published(claim) for claim in published(name)],
    }


def _published(claim: Published) -> dict[str, Any]:
    """Return the claim as a dictionary, without empty fields."""
    fields = {**asdict(claim), "url": claim.address}
    return {field: value for field, value in fields.items() if value != ""}


def _size(family: Family, size: str, layers: Sequence[int]) -> dict[str, Any]:
    radii = published_radii(family.title)
    return {
        "family": family.title,
        "size": size,
        "definition": family.settings(size),
        **_numbers(layers),
        "published": [_published(radii[size])] if size in radii else [],
    }


def _numbers(layers: Sequence[int]) -> dict[str, Any]:
    return {"positions": sum(layers), "radius": len(layers) - 1, "antipodes": layers[-1], "layers": layers}
