"""Drafts: positions that a person edits field by field, and the reasons why a draft is not a valid position.

A `Form` has a field for each place, sticker or square, and lists the symbols that the field may hold. A draft is a list
of symbols, one for each field.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from antipodes.drawing.picture import colours_of
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.rules.parts import Part

PIECES, VALUES, STICKERS, BLOCKS = "pieces", "values", "stickers", "blocks"
"""Kinds of groups: fields that exchange pieces; independent values; coloured stickers; squares with blocks."""
MAX_FIELDS = 1024
"""Maximum number of fields of a form."""
MAX_COLUMNS = 12
"""Maximum number of fields in a row if the notation has no rows of its own; they fit on a phone."""
MAX_REASONS = 6
"""Maximum number of reasons that a message lists."""
EMPTY_LABEL = "empty"
"""The label of the symbol for a place without a piece."""
Square = tuple[float, float]
"""Row and column of the upper left corner of a field, in units of fields."""


class DraftError(PositionError):
    """The draft is not a valid position."""

    def __init__(self, reason: str, fields: Iterable[int] = ()) -> None:
        super().__init__(reason)
        self.fields = tuple(fields)
        """Numbers of the fields that are known to be wrong."""


@dataclass(frozen=True, slots=True)
class FormSymbol:
    """A symbol that a field may hold."""

    symbol: str
    label: str
    """The name that a screen reader reads out: ``empty``, ``white``, ``peg 2``."""
    count: int | None
    """The number of fields that hold the symbol in every position; None if it varies."""
    colour: str | None


@dataclass(frozen=True, slots=True)
class FormGroup:
    """The symbols that a group of fields may hold."""

    kind: str
    symbols: tuple[FormSymbol, ...]


@dataclass(frozen=True, slots=True)
class FormField:
    """A place, sticker or square."""

    name: str
    group: int
    squares: tuple[Square, ...]
    """Squares on which the field is drawn: one, or several if several letters of a net show the same sticker."""
    fixed: bool = False
    """Whether the field always holds the same symbol."""


@dataclass(frozen=True)
class Form:
    """The fields in which a position is edited; by default a draft is the list of symbols on the places."""

    groups: tuple[FormGroup, ...]
    fields: tuple[FormField, ...]

    @property
    def blocks(self) -> Mapping[str, tuple[tuple[int, int], ...]] | None:
        """The cells of each block by its letter, as (rows down, columns right); None if there are no blocks."""
        return None

    @property
    def is_editable(self) -> bool:
        """Whether some field can be edited and the form is not too large."""
        free = [field for field in self.fields if not field.fixed and len(self.groups[field.group].symbols) > 1]
        return len(free) > 0 and len(self.fields) <= MAX_FIELDS

    def draft_of(self, written: Sequence[str]) -> list[str]:
        """Return the draft of a position, from the symbol on each place."""
        return list(written)

    def written(self, draft: Sequence[str]) -> list[str]:
        """Return the symbol on each place; raise DraftError with the reason if the draft is not a position."""
        self.check_counts(draft)
        return list(draft)

    def check_symbols(self, draft: Sequence[str]) -> None:
        """Raise PositionError unless each field holds one of its symbols."""
        if len(draft) != len(self.fields):
            raise PositionError(f"expected {len(self.fields)} symbols (one for each field), found {len(draft)}")
        known = [{one.symbol for one in group.symbols} for group in self.groups]
        for number, (symbol, field) in enumerate(zip(draft, self.fields, strict=True)):
            if symbol not in known[field.group]:
                raise PositionError(f"symbols[{number}]: {field.name} cannot hold this symbol")

    def check_counts(self, draft: Sequence[str]) -> None:
        """Raise DraftError unless each symbol occurs as often as in every position."""
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
            raise DraftError(summary_of(reasons), wrong)


def summary_of(reasons: Sequence[str]) -> str:
    """Return reasons in one line: the first few and the number of further reasons."""
    more = [f"{len(reasons) - MAX_REASONS} more"] if len(reasons) > MAX_REASONS else []
    return "; ".join([*reasons[:MAX_REASONS], *more])


def _named(kind: str, symbol: FormSymbol) -> str:
    """Return the name of a symbol for a message about wrong counts."""
    if symbol.label == EMPTY_LABEL:
        return "the empty place" if symbol.count == 1 else "empty places"
    return f"{symbol.label} stickers" if kind == STICKERS else f"piece {symbol.label}"


def wrong_count(name: str, expected: int, found: int) -> str:
    """Return the reason why a count is wrong."""
    return f"{name} is missing" if (expected, found) == (1, 0) else f"{name}: {found} instead of {expected}"


def form_of(
    parts: Sequence[Part],
    names: Sequence[str] = (),
    squares: Sequence[Square] = (),
    labels: Mapping[str, str] | None = None,
    colours: Mapping[str, str] | None = None,
) -> Form:
    """Return the form of a puzzle with these parts.

    ``names`` and ``squares`` belong to the places; by default the names are ``place 1``, ``place 2``, ... and each
    part is a row of squares. ``labels`` and ``colours`` belong to the symbols.
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
    """Return the name of each place; the count starts anew in each part that has a name."""
    names = []
    counted = 0
    for part in parts:
        first = 0 if part.name or part.twists else counted
        of_part = f"{part.name} " if part.name else ""
        names += [f"{'turn on ' if part.twists else ''}{of_part}place {first + k + 1}" for k in range(part.places)]
        counted += part.places
    return names


def _rows(parts: Sequence[Part]) -> list[Square]:
    """Return the square of each place.

    Adjacent dials (see `_is_dial`) share rows, other parts begin a new row, and twists are below their pieces.
    """
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
    """Return whether a part without a name holds values that are not twists."""
    return not part.holds_pieces and not part.twists and not part.name
