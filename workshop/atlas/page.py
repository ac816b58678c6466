"""The page of the atlas: results as Markdown."""

from collections.abc import Mapping, Sequence

import numpy as np

from antipodes.puzzles.config import load_config
from antipodes.tables.drawing import draw_positions
from antipodes_tasks.spaces.selection import best_space
from workshop.atlas.entries import CHAPTERS, FAMILIES, REMARKS, TOO_LARGE, Family
from workshop.atlas.published import Published, published, published_radii, searched
from workshop.atlas.results import Result, Results

HEAD = """# Atlas

This page contains the results of complete tables of {count} puzzles. `make atlas` writes it. For each puzzle it shows:

* the start and one antipode, a position at maximum distance from the start,
* the number of reachable positions, in all and at each distance,
* the same numbers *up to symmetry*: positions that a [symmetry](how-to/symmetry.md) maps to each other count once,
* the time of the whole command `antipodes run`, which writes the table to disk.

[atlas.json](atlas.json) contains all numbers and the definitions of the puzzles as data, according to [this
schema](schemas/atlas.json).

{published}

Machine: {machine}.

| puzzle | positions | radius | antipodes | time |
| --- | --- | --- | --- | --- |
{summary}
"""
PUBLISHED = """*Published* names sources that contain the same numbers; any difference is stated, and a test compares
them. We searched {searched}."""
SECTION = """### {name}

{description}

```text
{drawing}
```

{states:,} positions{unreached}, radius {radius}, {antipodes}, {seconds:.1f} s.{unique}{remark}

{published}

{layers}
"""
LAYERS = "Positions at each distance, from distance 0 on:\n{layers}."
LAYERS_HINT = "`antipodes layers` lists the {count:,} layers."
MAX_LAYERS = 200
COLUMNS = 100
WIDTH = 118


def page(results: Results) -> str:
    """Return the text of the page."""
    found = {name: results.puzzles[name] for chapter in CHAPTERS.values() for name in chapter}
    parts = [_head(found, results.machine)]
    for chapter, names in CHAPTERS.items():
        parts.append(f"## {chapter}\n")
        parts += [_section(name, found[name]) for name in names]
    parts.append("## Families by size\n")
    parts += [_family(family, results.families[family.title]) for family in FAMILIES]
    parts.append("## Left out\n\n" + "\n".join(f"* `{name}`: {why}." for name, why in TOO_LARGE.items()) + "\n")
    return "\n".join(parts)


def _head(found: Mapping[str, Result], machine: str) -> str:
    about = _wrapped(PUBLISHED.format(searched=searched()).split())
    return HEAD.format(count=len(found), published=about, machine=machine, summary=_summary(found))


def _summary(results: Mapping[str, Result]) -> str:
    return "\n".join(
        f"| [{name}](#{name}) | {one.states:,} | {one.radius:,} | {one.layers[-1]:,} | {one.seconds:.1f} s |"
        for name, one in results.items()
    )


def _unique(result: Result) -> str:
    """Return the numbers up to symmetry; an empty string if the puzzle has no symmetries."""
    if result.symmetries == 1 or result.unique is None:
        return ""
    return (
        f" Up to its {result.symmetries:,} symmetries: {sum(result.unique):,} positions, "
        f"{_antipodes(result.unique[-1])}."
    )


def _section(name: str, result: Result) -> str:
    unreached = f" reachable, of {result.index_size:,} in the index" if result.states < result.index_size else ""
    return SECTION.format(
        name=name,
        description=load_config(name).puzzle.description,
        drawing=_drawing(name, result),
        states=result.states,
        unreached=unreached,
        radius=f"{result.radius:,}",
        antipodes=_antipodes(result.layers[-1]),
        seconds=result.seconds,
        unique=_unique(result),
        remark=f" {REMARKS[name]}" if name in REMARKS else "",
        published=_published(published(name)),
        layers=_layers(result.layers),
    )


def _published(claims: Sequence[Published]) -> str:
    """Return the published numbers with their sources, and state if we found no publication of the radius."""
    if not claims:
        return "We found no publication of these numbers."
    has_radius = any(claim.what in {"radius", "layers"} and not claim.differs for claim in claims)
    return f"Published: {'; '.join(map(_claim, claims))}." + (
        "" if has_radius else " We found no publication of the radius with these moves."
    )


def _claim(claim: Published) -> str:
    """Return one published number with a link to its source and, if it differs from ours, the difference."""
    what = f"distance {claim.value}" if claim.what == "distance" else claim.what
    return f"{what} ({_source(claim)})" + (f", but {claim.differs}" if claim.differs else "")


def _source(claim: Published) -> str:
    source = f"[{claim.source}]({claim.address})" if claim.address else claim.source
    return source + (f", {claim.note}" if claim.note else "")


def _drawing(name: str, result: Result) -> str:
    """Draw the start and an antipode, side by side if there is room."""
    puzzle = load_config(name).puzzle
    starts = puzzle.start_labels if puzzle.rules.origin is None else best_space(puzzle.rules).starts
    labels = np.stack((starts[0], puzzle.parse(result.antipode)))
    first = "start" if puzzle.rules.origin is None else "a goal"
    return draw_positions(puzzle, labels, COLUMNS, [first, f"{result.radius:,} moves away"])


def _layers(layers: Sequence[int]) -> str:
    if len(layers) > MAX_LAYERS:
        return LAYERS_HINT.format(count=len(layers))
    return LAYERS.format(layers=_wrapped([f"{count:,}" for count in layers]))


def _antipodes(count: int) -> str:
    return "one antipode" if count == 1 else f"{count:,} antipodes"


def _wrapped(words: Sequence[str]) -> str:
    """Join the words with spaces, in lines of at most WIDTH characters."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def _family(family: Family, layers: Mapping[str, Sequence[int]]) -> str:
    rows = "\n".join(
        f"| {size} | {sum(found):,} | {len(found) - 1:,} | {found[-1]:,} |" for size, found in layers.items()
    )
    head = f"| {family.size} | positions | radius | antipodes |\n| --- | --- | --- | --- |"
    return f"### {family.title}\n\n{family.about}\n\n{_published_radii(family)}\n\n{head}\n{rows}\n"


def _published_radii(family: Family) -> str:
    claims = published_radii(family.title)
    if not claims:
        return "We found no publication of the radii."
    which = "radii" if list(claims) == list(family.sizes) else f"radius for {family.size} {', '.join(claims)}"
    return f"Published: {which} ({_source(next(iter(claims.values())))})."
