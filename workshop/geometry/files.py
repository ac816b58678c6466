"""The texts that describe a puzzle: its ``.tws`` file, its picture, and the facelet for each letter of the picture."""

from collections.abc import Iterator

from workshop.geometry.orbits import PlacesOfOrbit, orbits_of
from workshop.geometry.puzzles import Design


def definition(design: Design) -> str:
    """Return the ``.tws`` file. Moves count places from 0; each twist applies to the piece that arrives on a place."""
    orbits = _named(design)
    lines = ["# Written by python -m workshop.geometry.", f"Name {design.name}", ""]
    lines += [f"Set {name} {len(orbit.facelets)} {orbit.orientations}" for name, orbit in orbits.items()]
    lines += ["", "StartState"]
    for name, orbit in orbits.items():
        places = list(range(len(orbit.facelets)))
        lines += _block(name, orbit, places, [0] * len(places))
    lines.append("End")
    for name in design.cut.turns:
        lines += ["", f"MoveTransformation {name}", *_move(design, orbits, name), "End"]
    return "\n".join(lines) + "\n"


def picture(design: Design) -> tuple[str, str]:
    """Return the picture of the solved puzzle, and the facelet that each letter shows, in reading order."""
    place_of = {}
    for letter, orbit in zip("abcdefgh", orbits_of(design.cut), strict=False):
        for sticker, (place, number) in orbit.place_of.items():
            place_of[sticker] = f"{letter}{place}.{number}"
    canvas = design.net()
    facelets = [place_of.get(design.cut.sticker_at(*point), "-") for point in canvas.in_reading_order()]
    return canvas.text(), " ".join(facelets)


def _named(design: Design) -> dict[str, PlacesOfOrbit]:
    return dict(zip(design.orbits, orbits_of(design.cut), strict=True))


def _move(design: Design, orbits: dict[str, PlacesOfOrbit], turn: str) -> Iterator[str]:
    """Yield the lines for each orbit that a turn changes."""
    images = design.cut.images(turn)
    for name, orbit in orbits.items():
        origin, twist = orbit.turn(images)
        if origin != sorted(origin) or any(twist):
            yield from _block(name, orbit, origin, twist)


def _block(name: str, orbit: PlacesOfOrbit, pieces: list[int], twists: list[int]) -> list[str]:
    lines = [name, " ".join(map(str, pieces))]
    return lines if orbit.orientations == 1 else [*lines, " ".join(map(str, twists))]
