"""Drafts: positions that a person edits field by field, and what is wrong with one that is not a position.

A `Form` has a field for each place, sticker or square, and says which symbols the field may hold. A draft is a list of
symbols, one for each field.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from antipodes.puzzles.picture import colours_of
from antipodes_tasks.errors import PositionError
from antipodes_tasks.rules.parts import Part

PIECES, VALUES, STICKERS, BLOCKS = "pieces", "values", "stickers", "blocks"
"""Kinds of groups: fields that exchange pieces; fields of which each holds any value; colours; squares of blocks."""
MAX_FIELDS = 1024
"""Fields of the largest form."""
MAX_COLUMNS = 12
"""Fields in a row where the notation has no rows of its own: as many as fit on a phone."""
MAX_REASONS = 6
"""Symbols that a message about wrong numbers of pieces lists."""
EMPTY_LABEL = "empty"
"""The label of the symbol for a place without a piece."""
Square = tuple[float, float]
"""Row and column of the upper left corner of a field, in units of fields."""


class DraftError(PositionError):
    """A draft that is not a position."""

    def __init__(self, reason: str, fields: Iterable[int] = ()) -> None:
        super().__init__(reason)
        self.fields = tuple(fields)
        """The numbers of the fields that are wrong, as far as they are known."""


@dataclass(frozen=True, slots=True)
class FormSymbol:
    """A symbol that a field may hold."""

    symbol: str
    label: str
    """How a screen reader names it: ``empty``, ``white``, ``peg 2``."""
    count: int | None = None
    """The number of fields that hold it in every position; None: any."""
    colour: str | None = None


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Fields that may hold the same symbols."""

    kind: str
    symbols: tuple[FormSymbol, ...]


@dataclass(frozen=True, slots=True)
class FormField:
    """A place, sticker or square."""

    name: str
    group: int
    squares: tuple[Square, ...]
    """Where it is drawn: one square, or several for a sticker that several letters of a net show."""
    fixed: bool = False
    """Whether it always holds the same symbol."""


@dataclass(frozen=True)
class Form:
    """The fields of a puzzle whose drafts have the symbols of its places, in their order."""

    groups: tuple[FormGroup, ...]
    fields: tuple[FormField, ...]

    @property
    def blocks(self) -> Mapping[str, tuple[tuple[int, int], ...]] | None:
        """The cells of each block by its letter, as rows down and columns right; None: there are no blocks."""
        return None

    @property
    def is_editable(self) -> bool:
        """Whether there is something to edit, and not too much."""
        free = [field for field in self.fields if not field.fixed and len(self.groups[field.group].symbols) > 1]
        return len(free) > 0 and len(self.fields) <= MAX_FIELDS

    def draft_of(self, written: Sequence[str]) -> list[str]:
        """The draft of a position, from the symbol on each place."""
        return list(written)

    def written(self, draft: Sequence[str]) -> list[str]:
        """The symbol on each place; DraftError, with the reason, for a draft that is not a position."""
        self.check_counts(draft)
        return list(draft)

    def check_symbols(self, draft: Sequence[str]) -> None:
        """Raise PositionError unless each field holds one of its symbols."""
        if len(draft) != len(self.fields):
            raise PositionError(f"expected {len(self.fields)} symbols, one for each field, found {len(draft)}")
        known = [{one.symbol for one in group.symbols} for group in self.groups]
        for number, (symbol, field) in enumerate(zip(draft, self.fields, strict=True)):
            if symbol not in known[field.group]:
                raise PositionError(f"symbols[{number}]: expected a symbol of {field.name}, found another one")

    def check_counts(self, draft: Sequence[str]) -> None:
        """Raise DraftError unless each symbol is there as often as in every position."""
        reasons, wrong = list[str](), list[int]()
        for number, group in enumerate(self.groups):
            own = [at for at, field in enumerate(self.fields) if field.group == number]
            found = Counter(draft[at] for at in own)
            for one in group.symbols:
                if one.count is None or found[one.symbol] == one.count:
                    continue
                reasons.append(wrong_count(_named(group.kind, one), one.count, found[one.symbol]))
                if found[one.symbol] > one.count:
                    wrong += [at for at in own if draft[at] == one.symbol and not self.fields[at].fixed]
        if reasons:
            raise DraftError(listed(reasons), wrong)


def listed(reasons: Sequence[str]) -> str:
    """Reasons in one line: the first few, and how many more there are."""
    more = [f"{len(reasons) - MAX_REASONS} more"] if len(reasons) > MAX_REASONS else []
    return "; ".join([*reasons[:MAX_REASONS], *more])


def _named(kind: str, symbol: FormSymbol) -> str:
    """What a message about wrong numbers calls a symbol."""
    if symbol.label == EMPTY_LABEL:
        return "the empty place" if symbol.count == 1 else "empty places"
    return f"{symbol.label} stickers" if kind == STICKERS else f"piece {symbol.label}"


def wrong_count(name: str, expected: int, found: int) -> str:
    """Why the number of something is wrong."""
    return f"{name} is missing" if (expected, found) == (1, 0) else f"{name}: {found} instead of {expected}"


def form_of(
    parts: Sequence[Part],
    names: Sequence[str] = (),
    squares: Sequence[Square] = (),
    labels: Mapping[str, str] | None = None,
    colours: Mapping[str, str] | None = None,
) -> Form:
    """The form of a puzzle with these parts.

    ``names`` and ``squares`` are those of the places, by default ``place 1`` and rows of parts; ``labels`` and
    ``colours`` those of symbols.
    """
    groups = tuple(_group(part, labels or {}, colours) for part in parts)
    named = names or _names(parts)
    placed = squares or _rows(parts)
    numbers = [number for number, part in enumerate(parts) for _ in range(part.places)]
    fields = (FormField(name, number, (at,)) for name, number, at in zip(named, numbers, placed, strict=True))
    return Form(groups, tuple(fields))


def _group(part: Part, labels: Mapping[str, str], colours: Mapping[str, str] | None) -> FormGroup:
    if part.counts is None:
        twist = "turn " if part.twists else ""
        symbols = (
            FormSymbol(one, labels.get(one, twist + one), None, (colours or {}).get(one)) for one in part.symbols
        )
        return FormGroup(VALUES, tuple(symbols))
    every = [symbol for symbol, count in zip(part.symbols, part.counts, strict=True) for _ in range(count)]
    known = {**colours_of([one for one in every if one not in labels]), **(colours or {})}
    counts = zip(part.symbols, part.counts, strict=True)
    return FormGroup(
        PIECES, tuple(FormSymbol(one, labels.get(one, one), count, known.get(one)) for one, count in counts if count)
    )


def _names(parts: Sequence[Part]) -> list[str]:
    """The name of each place; in each part of a name they are counted anew."""
    names = []
    counted = 0
    for part in parts:
        first = 0 if part.name or part.twists else counted
        of_part = f"{part.name} " if part.name else ""
        names += [f"{'turn on ' if part.twists else ''}{of_part}place {first + k + 1}" for k in range(part.places)]
        counted += part.places
    return names


def _rows(parts: Sequence[Part]) -> list[Square]:
    """The places row by row: dials follow each other, other parts begin a row, with twists directly below pieces."""
    squares = list[Square]()
    row, column = 0.0, 0
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        with_twists = part.twists or (after is not None and after.twists)
        pitch = 2 if with_twists else 1
        places = range(column, column + part.places)
        squares += [(row + pitch * (k // MAX_COLUMNS), k % MAX_COLUMNS) for k in places]
        if after is not None and _is_dial(part) and _is_dial(after):
            row, column = row + places.stop // MAX_COLUMNS, places.stop % MAX_COLUMNS
        elif after is not None and after.twists:
            row, column = row + 1, 0
        else:
            row, column = row + pitch * -(-places.stop // MAX_COLUMNS) - (pitch - 1) + 0.5, 0
    return squares


def _is_dial(part: Part) -> bool:
    return not part.holds_pieces and not part.twists and not part.name
