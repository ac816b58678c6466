"""Graphs of CayleyPy as puzzles and back, and exact distances for its beam search and its training.

A state of a graph is the labels of a position, so ``cayleypy.Predictor(graph, table)`` uses `Table.predict` directly.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from antipodes.puzzles.config import Config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.table import Table
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError, UnfinishedError, UnreachableError, imported

if TYPE_CHECKING:
    from cayleypy import CayleyGraph, CayleyGraphDef
    from torch import Tensor

MOVE_NAME = re.compile(r"\w{1,20}'?")


def puzzle(graph: CayleyGraph | CayleyGraphDef, *, name: str | None = None) -> Puzzle:
    """Return a graph as a puzzle: its start is the central state, and its moves are the generators, in the same order.

    A generator whose name is not a word, or not unique, is called ``g0``, ``g1`` and so on.

    Parameters
    ----------
    graph
        A graph or its definition; the generators must be permutations.
    name
        Name of the puzzle and of its store. None: the name of the graph.

    Raises
    ------
    InputError
        The argument is not such a graph, or the values of its central state are not 0, 1, 2 and so on without gaps.
    """
    definition = _definition_of(graph)
    centre = np.array(definition.central_state)
    if sorted(set(centre.tolist())) != list(range(len(set(centre.tolist())))):
        raise InputError(f"central_state: expected the values 0, 1, 2 and so on without gaps, found {centre.tolist()}")
    given = definition.generator_names
    words = [
        word if MOVE_NAME.fullmatch(word) and given.count(word) == 1 and not re.fullmatch(r"g\d+", word) else f"g{at}"
        for at, word in enumerate(given)
    ]
    return Config(
        {
            "name": name or re.sub(r"[^\w-]", "-", definition.name) or "cayley-graph",
            "family": "generators",
            "start": " ".join(map(str, centre.tolist())),
            "moves": dict(zip(words, (list(map(int, one)) for one in definition.generators_permutations), strict=True)),
            "turns": "single",
        }
    ).puzzle


def definition(puzzle: Puzzle) -> CayleyGraphDef:
    """Return a puzzle as the definition of a graph whose states are the labels of positions.

    Raises InputError if the puzzle has several starts, or its moves are not permutations of the places that are always
    legal.
    """
    library = imported("cayleypy", "this function", "cayleypy")
    arguments.instance(puzzle, Puzzle, "a Puzzle")
    permutations = puzzle.permutations
    if permutations.shape[1] != puzzle.places:
        raise InputError(f"{puzzle.name} has moves that turn pieces, but CayleyPy only moves them between places")
    if len(puzzle.starts) != 1:
        raise InputError(f"{puzzle.name} has {len(puzzle.starts):,} starts, but a graph has one central state")
    return library.CayleyGraphDef.create(
        permutations.tolist(), list(puzzle.moves.names) or None, list(map(int, puzzle.starts[0])), puzzle.name
    )


class TrainingData(NamedTuple):
    """States with exact distances, with the fields of the training data in CayleyPy's pull request 201."""

    states: Tensor
    """``[n_states, state_size]``"""
    targets: Tensor
    """Distances ``[n_states]``, or those after each generator, ``[n_states, n_generators]``."""
    mask: Tensor | None = None
    """None: all targets are known."""
    weights: Tensor | None = None
    """None: all targets are equally important."""


class ExactDistances:
    """The exact distances of a graph's states to its central state, from a finished table.

    The method `lb` makes it a lower bound for CayleyPy's beam search, as its pull request 206 describes: the best one.
    """

    def __init__(self, graph: CayleyGraph, table: Table) -> None:
        """Check that the table contains the distances of the graph.

        Raises InputError if the table belongs to another graph, or the inverse of a generator is not a generator, so
        that distances to the central state are unknown; and UnfinishedError if the table is unfinished.
        """
        arguments.instance(table, Table, "an open table")
        if table.puzzle.fingerprint != puzzle(graph).fingerprint:
            raise InputError(f"{table.address} is the table of another graph: {table.puzzle.name}")
        if not table.puzzle.moves.reversible:
            raise InputError("the generators are not inverse-closed, so the table only has distances from the centre")
        if not table.complete:
            raise UnfinishedError(f"{table.address} is unfinished; a lower bound needs all distances")
        self.graph, self.table = graph, table

    def lb(self, states: Any) -> Tensor:
        """Return the distance of one state or several, ``[n_states]``; infinity for states that are unreachable.

        Raises PositionError if a state has other values than the central state.
        """
        import torch

        return self.table.predict(torch.atleast_2d(torch.as_tensor(states)))

    def training_data(self, states: Any, *, children: bool = False) -> TrainingData:
        """Return the distances of chosen states ``[n_states, state_size]`` as training data.

        With ``children``, the targets are the distances after each generator, for models with an output for each.

        Raises PositionError if a state has other values than the central state, and UnreachableError if a state is
        unreachable.
        """
        import torch

        several = torch.atleast_2d(torch.as_tensor(states))
        targets = self.lb(several)
        if torch.isinf(targets).any():
            raise UnreachableError(
                f"state {int(torch.isinf(targets).nonzero()[0])} is unreachable, so it has no distance"
            )
        if arguments.flag(children, "children"):
            generators = self.graph.definition.generators_permutations
            targets = torch.stack([self.lb(several[:, one]) for one in generators], dim=1)
        return TrainingData(several, targets)


def _definition_of(graph: Any) -> Any:
    """Return the definition of a graph whose generators are permutations; raise InputError for anything else."""
    library = imported("cayleypy", "this function", "cayleypy")
    found = graph.definition if isinstance(graph, library.CayleyGraph) else graph
    if not (isinstance(found, library.CayleyGraphDef) and found.is_permutation_group()):
        raise InputError(
            f"expected a graph of CayleyPy whose generators are permutations, found {arguments.found(graph)}"
        )
    return found
