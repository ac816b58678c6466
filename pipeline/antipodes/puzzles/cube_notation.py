"""Cube notation beyond the moves of a puzzle: rotations, slices, wide turns, and turns of missing faces.

A rotation such as ``x`` only renames the turns after it, according to the face that is then on each side. Positions
are always written in the orientation of the unrotated cube. A slice is two turns and a rotation: ``M`` is ``R L' x'``.
A wide turn is a turn and a rotation: ``r`` is ``L x``. Two opposite faces may contain all pieces although only one of
them can turn, as on a 2x2x2 cube with a fixed corner. A turn of the other face is then a turn of this face and a
rotation: ``D`` is ``U y'``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from antipodes.puzzles.cube_rotations import ALL_ROTATIONS, AXES, FACES, LIKE, UNROTATED, opposite
from antipodes.puzzles.move_words import Word
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.transforms import Transforms

Point = tuple[int, int]
"""A place, and a twist there."""


@dataclass(frozen=True, slots=True)
class Action:
    """A turn as a permutation of points."""

    images: tuple[int, ...]
    """For each place, the place to which its piece goes."""
    twists: tuple[int, ...]
    """For each place, the twist that its piece gets."""
    moduli: tuple[int, ...]
    """For each place, the number of twists."""

    @classmethod
    def of(cls, origin: Sequence[int], added: Sequence[int], moduli: Sequence[int]) -> Self:
        """Return the action of the move ``after[i] = (before[origin[i]] + added[i]) % moduli[i]``."""
        images = sorted(range(len(origin)), key=origin.__getitem__)
        return cls(tuple(images), tuple(added[place] for place in images), tuple(moduli))

    def image(self, point: Point) -> Point:
        """Return the point to which the turn takes a point."""
        place, twist = point
        return self.images[place], (twist + self.twists[place]) % self.moduli[place]

    @property
    def changed(self) -> set[int]:
        """The places whose pieces are moved or twisted."""
        return {place for place in range(len(self.images)) if self.image((place, 0)) != (place, 0)}

    def order_divides(self, exponent: int) -> bool:
        """Return whether making the turn ``exponent`` times changes nothing."""
        points = [(place, 0) for place in range(len(self.images))]
        now = points
        for _ in range(exponent):
            now = list(map(self.image, now))
        return now == points


def orbits_of(actions: Sequence[Action]) -> list[set[Point]]:
    """Return the orbits of the turns that contain a point of twist 0."""
    orbits: list[set[Point]] = []
    for place in range(len(actions[0].images)):
        if not any((place, 0) in orbit for orbit in orbits):
            orbits.append(set(_extended({(place, 0): (place, 0)}, [(one, one) for one in actions]) or ()))
    return orbits


def are_conjugate(pairs: Sequence[tuple[Action, Action]]) -> bool:
    """Return whether one renaming of the points turns the first action of every pair into the second action."""
    orbits = orbits_of([first for first, _ in pairs])
    return all(any(_maps(orbit, image, pairs) for other in orbits for image in other) for orbit in orbits)


def _maps(orbit: set[Point], image: Point, pairs: Sequence[tuple[Action, Action]]) -> bool:
    """Return whether mapping the first point of an orbit to ``image`` extends to a renaming that fits all pairs."""
    renamed = _extended({min(orbit): image}, pairs)
    return renamed is not None and len(set(renamed.values())) == len(orbit)


def _extended(renamed: dict[Point, Point], pairs: Sequence[tuple[Action, Action]]) -> dict[Point, Point] | None:
    """Extend a renaming to all points that the turns reach; return None if the pairs contradict each other."""
    waiting = list(renamed)
    while waiting:
        point = waiting.pop()
        for first, second in pairs:
            reached, image = first.image(point), second.image(renamed[point])
            if reached not in renamed:
                renamed[reached] = image
                waiting.append(reached)
            elif renamed[reached] != image:
                return None
    return renamed


TURN = re.compile(r"[URFDLB][2']?")
QUARTERS = {"": 1, "2": 2, "'": -1}
SLICES = {"M": "L", "E": "D", "S": "F"}
"""For each slice, the face whose direction it follows."""


@dataclass(frozen=True, slots=True)
class CubeNotation:
    """The turns of a cube, and the names that are abbreviations for words of turns."""

    turns: tuple[str, ...]
    words: Mapping[str, Word]
    """The word of each name that is not a move."""

    @classmethod
    def of(cls, kinds: Sequence[Moves]) -> Self | None:
        """Return the notation for the moves; None if they are not the face turns of a cube.

        Every name must be the name of a face turn, and each rotation that maps the names to each other must map the
        effects of the turns in the same way.
        """
        names = [name for moves in kinds for name in moves.names]
        if not names or not all(map(TURN.fullmatch, names)):
            return None
        actions = {name: action for moves in reversed(kinds) for name, action in _actions(moves)}
        if len(actions) < len(set(names)) or not _is_cube(actions):
            return None
        rotations = {name: Word((), rotation) for name, rotation in AXES.items()}
        words = {**rotations, **_turns_of_missing_faces(actions), **_inner_turns(actions)}
        return cls(tuple(dict.fromkeys(names)), words)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of turns and words, without their powers and without aliases such as Rw."""
        known = (*self.turns, *self.words)
        return tuple(name for name in known if name[:-1] not in known and "w" not in name)

    def moves(self, word: Word) -> tuple[tuple[str, bool], ...]:
        """Return the moves of a word, with turns of missing faces replaced by turns of the opposite faces.

        Raises PositionError if neither turn is a move of the puzzle.
        """
        held, moves = UNROTATED, []
        for step, undone in word.steps:
            name = held.renamed(step)
            if name not in self.turns:
                quarters = QUARTERS[name[1:]] * (-1 if undone else 1)
                held = LIKE[name[0]].power(quarters).compose(held)
                self._check(opposite(name), name)
                name = opposite(name)
            moves.append((name, undone))
        return tuple(moves)

    def _check(self, turn: str, found: str) -> None:
        if turn not in self.turns:
            listed = shorten(", ".join(self.turns))
            raise PositionError(f"after the rotations, expected one of the moves {listed}, found {quote(found)}")


def _actions(moves: Moves) -> Iterator[tuple[str, Action]]:
    """Yield the name of each move and its action; nothing if the moves are not stated as transforms."""
    if (stated := Transforms.of(moves)) is not None:
        for name, origin, added in zip(stated.names, stated.origin.tolist(), stated.added.tolist(), strict=True):
            yield name, Action.of(origin, added, stated.moduli.tolist())


def _is_cube(actions: Mapping[str, Action]) -> bool:
    """Return whether the turns have the orders of cube turns, cover all axes, and agree with a cube's rotations."""
    faces = {name[0] for name in actions}
    if not all(faces & {face, opposite(face)} for face in "URF"):
        return False
    if not all(action.order_divides(2 if name.endswith("2") else 4) for name, action in actions.items()):
        return False
    if any(opposite(face) not in faces and not _shares_all_pieces(actions, face) for face in faces):
        return False
    mapping = [one for one in ALL_ROTATIONS if {one.renamed(name) for name in actions} == actions.keys()]
    # If all 24 rotations map names to names, it is enough to check two of them, which generate the others.
    chosen = [LIKE["R"], LIKE["U"]] if len(mapping) == len(ALL_ROTATIONS) else mapping
    return all(are_conjugate([(actions[name], actions[one.renamed(name)]) for name in actions]) for one in chosen)


def _shares_all_pieces(actions: Mapping[str, Action], face: str) -> bool:
    """Return whether a face moves at least half of each orbit, so no layer lies between it and the opposite face."""
    turned = _places(actions, face)
    orbits = ({place for place, _ in orbit} for orbit in orbits_of(list(actions.values())))
    return all(len(orbit) <= 2 * len(orbit & turned) for orbit in orbits if len(orbit) > 1)


def _places(actions: Mapping[str, Action], faces: str) -> set[int]:
    """Return the places that turns of these faces change."""
    return {place for name, action in actions.items() if name[0] in faces for place in action.changed}


def _turns_of_missing_faces(actions: Mapping[str, Action]) -> dict[str, Word]:
    missing = [opposite(name) for name in actions if opposite(name) not in actions]
    return {name: Word(((name, False),)) for name in missing}


def _has_middle(actions: Mapping[str, Action], face: str) -> bool:
    """Return whether there are moving pieces between a face and the opposite face."""
    faces = {name[0] for name in actions}
    outer = _places(actions, face + opposite(face))
    return {face, opposite(face)} <= faces and not _places(actions, FACES) <= outer


def _inner_turns(actions: Mapping[str, Action]) -> dict[str, Word]:
    """Return the words of slices and wide turns, for the axes that have a layer in the middle."""
    found = {}
    middle = [face for face in FACES if _has_middle(actions, face)]
    for name, face in SLICES.items():
        for end in ("", "2"):
            if face in middle and {face + end, opposite(face) + end} <= actions.keys():
                # A slice turn equals turning both outer layers the other way and rotating the whole cube.
                steps = ((face + end, True), (opposite(face) + end, False))
                found[name + end] = Word(steps, LIKE[face].power(QUARTERS[end]))
    for face in middle:
        for end in ("", "2"):
            if opposite(face) + end in actions:
                word = Word(((opposite(face) + end, False),), LIKE[face].power(QUARTERS[end]))
                found[face.lower() + end] = found[face + "w" + end] = word
    return found
