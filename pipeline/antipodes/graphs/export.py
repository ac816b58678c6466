"""Export of the graph of a puzzle's positions and moves, to files and to objects of other libraries."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.config import PuzzleLike, as_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.output_files import output_file
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.keys.move_graph import MoveGraph, move_graph
from antipodes_tasks.rules.function_checks import check_functions
from antipodes_tasks.spaces.selection import best_space

if TYPE_CHECKING:
    from networkx import DiGraph
    from scipy.sparse import csr_array

MAX_NODES = 1 << 22
"""Maximum number of positions; in a file, each takes a few hundred bytes per move."""
GRAPHML = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
KEYS = (("depth", "node", "int"), ("position", "node", "string"), ("move", "edge", "string"))
"""Attributes of nodes and edges in GraphML: name, owner and type."""


@dataclass(frozen=True, repr=False)
class PositionGraph:
    """All positions reachable from the starts of a puzzle, and the moves between them.

    Nodes are numbered by depth, starts first. An edge connects a position to a successor; if several moves lead to the
    same successor, there is one edge with the name of the first. Reversible moves have an edge in each direction.
    """

    puzzle: Puzzle
    found: MoveGraph

    def __repr__(self) -> str:
        return f"<PositionGraph of {self.puzzle.name}: {len(self.depths):,} nodes, {len(self.edges):,} edges>"

    @property
    def labels(self) -> Labels:
        """The positions, ``(nodes, places)``."""
        return self.found.labels

    @property
    def depths(self) -> NDArray[np.int32]:
        """The distance of each position from the nearest start, ``(nodes,)``."""
        return self.found.depths

    @property
    def edges(self) -> NDArray[np.int64]:
        """The nodes before and after each move, ``(edges, 2)``, sorted."""
        return self.found.edges

    @cached_property
    def positions(self) -> list[str]:
        """The position of each node as a string."""
        return [self.puzzle.format(labels) for labels in self.labels]

    @cached_property
    def moves(self) -> list[str]:
        """The name of the move of each edge; empty strings if moves have no names."""
        names = self.puzzle.moves.names or [""] * len(self.puzzle.moves)
        return [names[number] for number in self.found.moves.tolist()]

    def to_networkx(self) -> DiGraph[int]:
        """Return a `networkx.DiGraph`: nodes have ``depth`` and ``position``, edges have ``move``.

        Raises InputError if networkx is not installed.
        """
        try:
            from networkx import DiGraph
        except ImportError:
            raise InputError("to_networkx needs networkx; install it with: pip install networkx") from None
        graph: DiGraph[int] = DiGraph(name=self.puzzle.name)
        nodes = zip(self.depths.tolist(), self.positions, strict=True)
        graph.add_nodes_from((node, {"depth": depth, "position": text}) for node, (depth, text) in enumerate(nodes))
        edges = zip(self.edges.tolist(), self.moves, strict=True)
        graph.add_edges_from((before, after, {"move": name}) for (before, after), name in edges)
        return graph

    def to_scipy_sparse(self) -> csr_array:
        """Return a `scipy.sparse.csr_array` ``(nodes, nodes)`` of bytes: 1 if a move leads from the row to the column.

        Raises InputError if scipy is not installed.
        """
        try:
            from scipy.sparse import csr_array
        except ImportError:
            raise InputError("to_scipy_sparse needs scipy; install it with: pip install scipy") from None
        parts = self._compressed_rows
        return csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file in the format of its suffix.

        ``.graphml`` contains nodes with depth and position, and edges with the move. ``.csv`` contains the edges, and a
        second file ``NAME.nodes.csv`` the nodes. ``.npz`` can be read by `scipy.sparse.load_npz`; it also contains the
        arrays ``depth``, ``position`` (labels ``(nodes, places)``), ``move`` (numbers) and ``moves`` (their names).

        Raises InputError if the suffix is unknown, and StoreError if the file cannot be written. The file is written
        atomically.
        """
        target = Path(arguments.path_or_text(path, "a file for the graph"))
        writer_of(target)(self, target)

    @property
    def _compressed_rows(self) -> dict[str, Any]:
        nodes = len(self.depths)
        ends = np.cumsum(np.bincount(self.edges[:, 0], minlength=nodes))
        return {
            "indices": self.edges[:, 1].astype(np.int32),
            "indptr": np.concatenate(([0], ends)).astype(np.int32),
            "data": np.ones(len(self.edges), dtype=np.uint8),
            "shape": (nodes, nodes),
        }


def graph(puzzle: PuzzleLike, limit: int = MAX_NODES) -> PositionGraph:
    """Return all positions reachable from the starts of a puzzle, and the moves between them.

    Parameters
    ----------
    puzzle
        As for `run`.
    limit
        Maximum number of positions of the graph; 4,194,304 by default.

    Raises
    ------
    InputError
        An argument is invalid, or the puzzle has free moves.
    ResourceLimitError
        The graph has more positions than the limit.
    """
    most, found = arguments.integer(limit, "a limit", 1), as_config(puzzle).puzzle
    if found.moves.free_moves:
        raise InputError(f"{found.name} has free moves, and its graph would need edges that cost nothing")
    check_functions(found.rules, found.start_labels)
    space = best_space(found.rules)
    known = None if found.rules.enumerated else space.numbering.reachable(found.rules)
    if known is not None and known > most:
        raise ResourceLimitError(
            f"the graph has {known:,} positions, more than {most:,}; if they fit into memory, raise {option('limit')}"
        )
    return PositionGraph(found, move_graph(space.starts, found.moves, found.parts, most))


def writer_of(path: Path) -> Callable[[PositionGraph, Path], None]:
    """Return the function that writes a graph to a file of this name; raise InputError if its suffix is unknown."""
    if path.suffix not in WRITERS:
        raise InputError(f"the file name must end in {', '.join(WRITERS)}; found {quote(path.name)}")
    return WRITERS[path.suffix]


@contextmanager
def _text_file(path: Path) -> Iterator[TextIO]:
    """Yield a text file that replaces ``path``, as `output_file` does."""
    with output_file(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield text
        text.detach()


def _write_graphml(graph: PositionGraph, path: Path) -> None:
    with _text_file(path) as file:
        file.write(GRAPHML)
        file.writelines(
            f'<key id="{key}" for="{of}" attr.name="{key}" attr.type="{kind}"/>\n' for key, of, kind in KEYS
        )
        file.write(f'<graph id={quoteattr(graph.puzzle.name)} edgedefault="directed">\n')
        for node, (depth, text) in enumerate(zip(graph.depths.tolist(), graph.positions, strict=True)):
            data = f'<data key="depth">{depth}</data><data key="position">{escape(text)}</data>'
            file.write(f'<node id="n{node}">{data}</node>\n')
        for (before, after), name in zip(graph.edges.tolist(), graph.moves, strict=True):
            data = f'<data key="move">{escape(name)}</data>'
            file.write(f'<edge source="n{before}" target="n{after}">{data}</edge>\n')
        file.write("</graph>\n</graphml>\n")


def _write_csv(graph: PositionGraph, path: Path) -> None:
    """Write both files, or neither."""
    depths, edges = graph.depths.tolist(), graph.edges.tolist()
    nodes = ((node, *one) for node, one in enumerate(zip(depths, graph.positions, strict=True)))
    moves = ((*pair, name) for pair, name in zip(edges, graph.moves, strict=True))
    with _text_file(path) as edges_file, _text_file(path.with_suffix(".nodes.csv")) as nodes_file:
        _write_lines(edges_file, ("before", "after", "move"), moves)
        _write_lines(nodes_file, ("node", "depth", "position"), nodes)


def _write_lines(file: TextIO, heading: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(lines)


def _write_npz(graph: PositionGraph, path: Path) -> None:
    own: dict[str, Any] = {"depth": graph.depths, "position": graph.labels, "move": graph.found.moves}
    names = np.array(graph.puzzle.moves.names, dtype=np.str_)
    with output_file(path) as file:
        np.savez_compressed(file, format=np.array(b"csr"), **graph._compressed_rows, **own, moves=names)


WRITERS = {".graphml": _write_graphml, ".npz": _write_npz, ".csv": _write_csv}
"""Functions that write a graph, by the suffix of the file."""
