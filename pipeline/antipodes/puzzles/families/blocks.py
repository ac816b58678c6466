"""Block puzzles such as Klotski and Rush Hour: pieces of one or more squares that slide through empty squares."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from antipodes.puzzles.blocks.board import REST, BlockBoard
from antipodes.puzzles.blocks.kinds import EMPTY, blocks_on, kinds_of
from antipodes.puzzles.blocks.moves import BlockMoves
from antipodes.puzzles.board import HOLE, drawn_rows
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import (
    MAX_PLACES,
    choice,
    flag,
    identity,
    refuse_unknown,
    starts_in,
    text,
    to_labels,
)
from antipodes_tasks.errors import ConfigError, PositionError
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.squares import squares_of
from antipodes_tasks.rules.transforms import MOST_MASKED

STEPS, SLIDES = "steps", "slides"


def blocks(settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle that the ``[puzzle]`` table of a config describes: ``start`` draws the board and the blocks.

    Each letter is a block. ``moves`` counts ``"steps"`` of one square, or ``"slides"``: one block any way. With
    ``distinct`` blocks of one shape are told apart; with ``axis`` each moves along its length only. The blocks of
    ``target`` are drawn in a colour of their own.

    Raises
    ------
    ConfigError
        A key is unknown, missing or out of range; the message names it.
    """
    refuse_unknown(settings, {"start", "moves", "distinct", "axis", "target"})
    slides = choice(settings, "moves", (STEPS, SLIDES)) == SLIDES
    distinct, axis = flag(settings, "distinct"), flag(settings, "axis")
    drawings = [drawn_rows(start, (EMPTY, HOLE), "blocks, '.' or '#'") for start in starts_in(settings)]
    try:
        board = _board(drawings[0], distinct, axis)
        board = replace(board, targets=_targets(settings, board))
        starts = [board.split("/".join(map(" ".join, drawing)), ()) for drawing in drawings]
    except PositionError as error:
        raise ConfigError(f"start: {error}") from None
    symbols = _symbols(board)
    labels = to_labels(starts, symbols)
    moves = BlockMoves(
        board.kinds, squares_of(board.rows, board.columns, board.holes), board.rows, labels[0].count(0), slides
    )
    return Puzzle.of(
        **identity(settings),
        family="blocks",
        notation=board,
        parts=(pieces(labels[0], symbols),),
        starts=labels,
        moves=moves.transforms(len(symbols)),
        enumerated=True,
    )


def _board(drawing: Sequence[Sequence[str]], distinct: bool, axis: bool) -> BlockBoard:
    rows, columns = len(drawing), len(drawing[0])
    if rows * columns > MAX_PLACES:
        raise ConfigError(f"start: expected at most {MAX_PLACES} squares, found {rows * columns}")
    squares = [symbol for row in drawing for symbol in row]
    found = blocks_on(drawing, EMPTY + HOLE)
    if not found:
        raise ConfigError("start: expected at least one block, found none")
    if EMPTY not in squares:
        raise ConfigError("start: expected at least one empty square '.', found none")
    return BlockBoard(
        rows,
        columns,
        holes=frozenset(square for square, symbol in enumerate(squares) if symbol == HOLE),
        empty_symbols=(EMPTY,),
        separator="" if all(len(symbol) == 1 for symbol in squares) else " ",
        kinds=kinds_of(found, distinct, axis),
        distinct=distinct,
    )


def _targets(settings: Mapping[str, Any], board: BlockBoard) -> frozenset[str]:
    """The symbols of the kinds of the blocks that ``target`` names."""
    letters = text(settings, "target").split() if "target" in settings else []
    kinds = {letter: kind.letters[0] for kind in board.kinds for letter in kind.letters}
    for letter in letters:
        if letter not in kinds:
            raise ConfigError(f"[puzzle] target: expected letters of blocks of the start, found {quote(letter)}")
    return frozenset(kinds[letter] for letter in letters)


def _symbols(board: BlockBoard) -> tuple[str, ...]:
    symbols = (EMPTY, *(kind.letters[0] for kind in board.kinds), REST)
    if len(symbols) > MOST_MASKED:
        raise ConfigError(f"start: expected at most {MOST_MASKED - 2} kinds of blocks, found {len(board.kinds)}")
    return symbols
