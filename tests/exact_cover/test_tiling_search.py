"""The tilings found, against published counts and against an independent brute force on small boards."""

import itertools
import tomllib

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import ORACLES
from project import ROOT
from tiling_brute_force import brute_force, orbits

from antipodes_tasks.base.errors import InputError
from antipodes_tasks.exact_cover import partition_search, partitions
from antipodes_tasks.exact_cover.partition_search import search_partition
from antipodes_tasks.exact_cover.partitions import METHODS, PLAIN, first_piece, partitions_of, possible
from antipodes_tasks.exact_cover.pieces import parse_piece
from antipodes_tasks.exact_cover.placements import distinct, orbit_sizes, placements_of, symmetry_of
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem, parse_problem

COUNTS = ORACLES["tiling/pentomino"]
PLACEMENTS_6X10 = COUNTS["6x10-placements"]
FILES = {"8x8-minus-centre-2x2": "8x8-minus-centre"}

SOMA = {
    "V": "##\n#.",
    "L": "###\n#..",
    "T": "###\n.#.",
    "Z": "##.\n.##",
    "left": "##\n#.\n\n.#\n..",
    "right": "##\n.#\n\n#.\n..",
    "corner": "##\n#.\n\n#.\n..",
}


def bundled(name: str) -> TilingProblem:
    with (ROOT / "configs/boards" / f"{FILES.get(name, name)}.toml").open("rb") as file:
        return parse_problem(tomllib.load(file)["board"])


def problem(cells: str, pieces: object, where: object = ()) -> TilingProblem:
    return parse_problem({"name": "test", "cells": cells, "pieces": pieces, "where": list(where)})


def box(layers: int, rows: int, columns: int) -> str:
    return "\n\n".join("\n".join("." * columns for _ in range(rows)) for _ in range(layers))


def tilings_of(task: TilingProblem, method: str = "pruning") -> tuple[np.ndarray, int]:
    parts = [search_partition(task, k, method) for k in range(len(partitions_of(task, method)))]
    empty = np.empty((0, task.copies), dtype=np.int32)
    return np.concatenate([empty, *(part.tilings for part in parts)]), sum(part.placements for part in parts)


def as_cells(task: TilingProblem, tilings: np.ndarray) -> set:
    where, placements = [tuple(cell) for cell in task.board.cells.tolist()], placements_of(task)
    found = set()
    for tiling in tilings:
        copies: list[set] = [set() for _ in task.pieces]
        for number in tiling.tolist():
            copy = frozenset(where[cell] for cell in placements.cells[number].tolist() if cell >= 0)
            copies[placements.piece[number]].add(copy)
        found.add(tuple(map(frozenset, copies)))
    return found


def check_against_brute_force(task: TilingProblem) -> None:
    """Both methods, pruning with both kernels, find the tilings and the orbits of the brute force, and count them."""
    expected, symmetry = brute_force(task), symmetry_of(task)
    count = orbits(expected, task)
    scannable = task.area == task.board.size <= partitions.SCANNED_CELLS
    for number, (method, scanned) in enumerate((("pruning", 0), ("plain", 0), ("pruning", 10**6))):
        if number and not scannable:
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(partitions, "MAX_SCANNED", scanned)
            for name in ("ENOUGH_PARTITIONS", "MIN_PARTITIONS"):
                patch.setattr(partitions, name, [30, 40, 2][number])  # deep prefixes, or shallow ones
            patch.setattr(partitions, "MAX_PATTERNS", [1, 512, 512][number])  # roots with one anchor, or closed ones
            patch.setattr(partition_search, "BATCH", 5)  # searches stop and continue
            patch.setattr(partition_search, "FIRST_SLICE", 3)
            partitions_of.cache_clear()
            canonical, placements = tilings_of(task, method)
            counted = [search_partition(task, k, method, keep=False) for k in range(len(partitions_of(task, method)))]
        assert as_cells(task, symmetry.expand(canonical)) == expected
        assert len(canonical) == len(distinct(canonical)) == count
        assert orbit_sizes(symmetry.copies(canonical)).sum() == len(expected)
        assert sum(one.count for one in counted) == count
        assert sum(one.raw_count for one in counted) == len(expected)
        assert sum(one.placements for one in counted) == placements
    partitions_of.cache_clear()


@pytest.mark.parametrize(("side", "symmetries"), [(2, 8), (32, 8)])
def test_the_copies_of_a_batch_fit_in_their_memory(side: int, symmetries: int) -> None:
    task = problem(box(1, side, side), {"D": {"shape": "##", "count": side * side // 2}})
    assert len(symmetry_of(task)) == symmetries
    size = partition_search.batch_size(task)
    assert 1 <= size <= partition_search.BATCH
    assert size * symmetries * task.copies * np.int32().nbytes <= partition_search.BATCH_BYTES
    assert (size == partition_search.BATCH) == (side == 2)


@pytest.mark.parametrize(
    ("cells", "where", "expected"),
    [
        ("..?", (), 1),
        ("?.?", (), 1),
        ("?..?", (), 1),
        ("??????", ["D covers 0"], 1),
        ("??????", (), 3),
        ("?.?.?", (), 0),
    ],
)
def test_a_single_piece_covers_the_cells_that_have_to_be_filled(cells: str, where: object, expected: int) -> None:
    task = problem(cells, {"D": "##"}, where)
    check_against_brute_force(task)
    assert len(tilings_of(task)[0]) == expected


@pytest.mark.parametrize(
    ("cells", "pieces"),
    [
        (box(1, 3, 5), "PUV"),
        ("....#\n.....\n.....\n.....\n.....\n....#\n..###", "FLPUVY"),
        ("#....##\n.......\n##.#...", "PLU"),
        (box(2, 3, 5), "ILPUVN"),
        (".#.\n...\n.#.".replace(".#.", "#.#"), "X"),
    ],
)
def test_pentominoes_on_small_boards(cells: str, pieces: str) -> None:
    check_against_brute_force(problem(cells, pieces))


@pytest.mark.parametrize(
    ("cells", "pieces"),
    [
        (box(1, 2, 3), {"a": "##\n#.", "b": "##\n#."}),
        (box(1, 3, 4), {"apart": "#.#", "rod": "###", "L": "###\n#..", "V": "##\n#."}),
        (box(2, 2, 3), {"twist": "##\n#.\n\n.#\n..", "L": "###\n#..", "I": "##", "J": "##"}),
        (
            "...\n.##\n...\n\n..#\n.##\n..#",
            {
                "I": "##",
                "apart": "..#\n#..\n##.",
                "left": "#..\n...\n...\n\n#..\n...\n.#.",
                "right": "...\n...\n..#\n\n...\n#..\n#..",
            },
        ),
        (box(3, 2, 2) + "\n\n..\n#.", {"twist": "##\n#.\n\n.#\n..", "V": "##\n#.", "I": "##", "O": "##\n##\n##"}),
    ],
)
def test_drawn_pieces_on_small_boards(cells: str, pieces: dict[str, str]) -> None:
    check_against_brute_force(problem(cells, pieces))


TWIST, TWISTED = "##\n#.\n\n.#\n..", "##\n.#\n\n#.\n.."


@pytest.mark.parametrize(
    ("cells", "pieces"),
    [
        (box(1, 3, 4), {"D": {"shape": "##", "count": 3}, "V": {"shape": "##\n#.", "count": 2}}),
        (box(1, 3, 3), {"a": {"shape": "#", "count": 2}, "V": {"shape": "##\n#.", "count": 2}, "b": "#"}),
        (box(2, 2, 4), {"left": {"shape": TWIST, "count": 3}, "right": TWISTED}),
        (box(1, 4, 5), {"L": {"shape": "###\n#..", "count": 5, "one_sided": True}}),
        (
            box(1, 4, 4),
            {"L": {"shape": "###\n#..", "one_sided": True}, "J": {"shape": "###\n..#", "one_sided": True, "count": 2},
             "O": "##\n##"},
        ),
        (
            box(1, 3, 5),
            {name: {"shape": shape, "one_sided": side} for name, shape, side in
             (("A", "###\n#..", True), ("C", "###\n#..", False), ("B", "###\n..#", True), ("V", "##\n#.", False))},
        ),
        (box(2, 2, 4), {"F": {"shape": "###\n#..", "one_sided": True, "count": 4}}),
        ("....\n.??.\n....", {"V": {"shape": "##\n#.", "count": 4}}),
        ("?...\n....\n...?", {"V": {"shape": "##\n#.", "count": 2}, "I": "####"}),
        ("???\n???\n???", {"D": {"shape": "##", "count": 3}}),
        ("....?\n.....\n?....\n..#..", {"D": {"shape": "##", "count": 5}, "V": {"shape": "##\n#.", "count": 3}}),
        ("??.??\n?????", {"T": "###\n.#.", "D": {"shape": "##", "count": 2}}),
        ("..?\n...\n\n...\n?..", {"V": {"shape": "##\n#.", "count": 3}, "dot": "#"}),
    ],
)  # fmt: skip
def test_copies_one_sided_pieces_and_cells_that_may_stay_empty(cells: str, pieces: object) -> None:
    check_against_brute_force(problem(cells, pieces))


@pytest.mark.parametrize(
    ("cells", "pieces", "where"),
    [
        (box(1, 5, 5), "LPUVI", ["I covers 2,0 2,4"]),
        (box(1, 4, 4), {"D": {"shape": "##", "count": 8}}, ["D covers 5 6", "D avoids 0"]),
        (box(1, 4, 4), {"D": {"shape": "##", "count": 7}, "a": "#", "b": "#"}, ["a covers 5"]),
        ("?..?\n....\n?..?", {"V": {"shape": "##\n#.", "count": 3}}, ["V covers 0"]),
        ("?..?\n....\n?..?", {"V": {"shape": "##\n#.", "count": 3}}, ["V avoids 0", "V covers 3"]),
        (box(2, 2, 3), {"D": {"shape": "##", "count": 6}}, ["D covers 0,1,1 1,1,1"]),
        (".?.\n...\n...", {"V": {"shape": "##\n#.", "count": 2}, "apart": "#.#"}, ["V avoids 2"]),
        (".?\n??", {"dot": {"shape": "#", "count": 3}}, ["dot covers 0", "dot covers 2"]),
    ],
)
def test_conditions(cells: str, pieces: object, where: list[str]) -> None:
    check_against_brute_force(problem(cells, pieces, where))


@given(st.data())
def test_random_boards_and_pieces(data: st.DataObject) -> None:
    """All tilings are found of a board cut into pieces at random, with copies, one-sided pieces and optional cells."""
    layers, rows, columns = data.draw(st.sampled_from([(1, 3, 5), (1, 4, 4), (2, 2, 4), (2, 3, 3), (1, 2, 8)]))
    cells = data.draw(st.sets(st.sampled_from(list(np.ndindex(layers, rows, columns))), min_size=8))
    order = data.draw(st.permutations(sorted(cells)))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(order) - 1), min_size=1, max_size=4)))
    groups = [order[a:b] for a, b in itertools.pairwise([0, *cuts, len(order)])]
    assume(all(len(group) <= 6 for group in groups))
    optional = data.draw(st.sets(st.sampled_from(order), max_size=3))
    one_sided = data.draw(st.lists(st.booleans(), min_size=len(groups), max_size=len(groups)))

    def drawn(group: list, marks: str) -> str:
        return "\n\n".join(
            "\n".join("".join(marks[(z, y, x) in group] for x in range(columns)) for y in range(rows))
            for z in range(layers)
        )

    board = "".join(
        "?" if cell in optional else mark
        for cell, mark in zip(_places(layers, rows, columns), drawn(order, "#."), strict=True)
    )
    pieces: dict[str, dict] = {}
    for number, (group, side) in enumerate(zip(groups, one_sided, strict=True)):
        shape = parse_piece("p", drawn(group, ".#")).cells
        known = next((one for one in pieces.values() if (one["cells"], one["one_sided"]) == (shape, side)), None)
        if known:
            known["count"] += 1
        else:
            pieces[f"p{number}"] = {"shape": drawn(group, ".#"), "count": 1, "one_sided": side, "cells": shape}
    check_against_brute_force(
        problem(
            board, {name: {key: one[key] for key in ("shape", "count", "one_sided")} for name, one in pieces.items()}
        )
    )


def _places(layers: int, rows: int, columns: int) -> list:
    """The cell of each character of a drawing, None for ends of lines and layers."""
    return [
        place
        for z in range(layers)
        for place in [
            *([None] if z == 0 else [None, None])[1 if z == 0 else 0 :],
            *[cell for y in range(rows) for cell in ([None] if y else []) + [(z, y, x) for x in range(columns)]],
        ]
    ]


@pytest.mark.parametrize(
    "name",
    ["6x10", "3x20", "8x8-minus-centre-2x2", "2x3x10",
     pytest.param("3x4x5", marks=pytest.mark.slow)],
)  # fmt: skip
def test_published_counts(name: str) -> None:
    found, _ = tilings_of(bundled(name))
    assert len(found) == len(distinct(found)) == COUNTS[name]


@pytest.mark.slow
def test_placements_of_first_empty_cell_backtracking() -> None:
    found, placements = tilings_of(bundled("6x10"), PLAIN)
    assert placements == PLACEMENTS_6X10
    assert np.array_equal(distinct(found), distinct(tilings_of(bundled("6x10"))[0]))


def test_first_empty_cell_backtracking_keeps_two_orientations_of_f() -> None:
    task = bundled("6x10")
    allowed, placements = partitions_of(task, PLAIN)[0].root.allowed, placements_of(task)
    kept = {
        tuple(map(tuple, (task.board.cells[cells] - task.board.cells[cells].min(axis=0))[:, 1:].tolist()))
        for cells in placements.cells[allowed & (placements.piece == 0)]
    }
    assert {frozenset(cells) for cells in kept} == {
        frozenset({(0, 0), (1, 0), (1, 1), (2, 1), (1, 2)}),
        frozenset({(0, 0), (0, 1), (1, 1), (2, 1), (1, 2)}),
    }
    assert allowed[placements.piece > 0].all()


def test_a_board_on_its_side_has_the_same_search() -> None:
    lying, standing = problem(box(1, 5, 6), "FILPUY"), problem(box(1, 6, 5), "FILPUY")
    for method in METHODS:
        (a, placements_a), (b, placements_b) = tilings_of(lying, method), tilings_of(standing, method)
        assert (len(a), placements_a) == (len(b), placements_b)


def test_the_soma_cube() -> None:
    """240 ways up to rotations and reflections (Conway and Guy, 1961); two of its pieces are mirror images."""
    task = problem(box(3, 3, 3), SOMA)
    found, _ = tilings_of(task)
    assert len(distinct(found)) == len(found) == 240
    assert orbit_sizes(symmetry_of(task).copies(found)).sum() == 240 * 48


def test_a_board_of_more_than_one_word() -> None:
    slab = "\n".join(["#" * 13] * 5)
    pieces = {"slab": slab, "P": "##\n##\n#.", "Q": "##\n##\n#."}
    check_against_brute_force(problem(box(1, 5, 15), pieces))


def test_the_largest_board() -> None:
    """A 2x63 slab and a domino fill 2x64 in two ways that are mirror images; one cell more is refused elsewhere."""
    task = problem(box(1, 2, 64), {"slab": "\n".join(["#" * 63] * 2), "domino": "##"})
    check_against_brute_force(task)
    assert task.board.size == 128


def test_colours_rule_out_the_tetrominoes() -> None:
    pieces = {"I": "####", "O": "##\n##", "T": "###\n.#.", "S": ".##\n##.", "L": "###\n#.."}
    assert not possible(problem(box(1, 4, 5), pieces))
    assert len(partitions_of(problem(box(1, 4, 5), pieces))) == 0


def test_a_cell_that_no_piece_covers_rules_out_tilings() -> None:
    """Else a search in scan order fills all that is before it."""
    dominoes = {"D": {"shape": "##", "count": 28}}
    assert len(partitions_of(problem(box(1, 7, 8), dominoes))) == partitions.MIN_PARTITIONS
    assert len(partitions_of(problem(box(1, 7, 8), dominoes, ["D avoids 52"]))) == 0


def test_the_first_pentomino_is_the_cross() -> None:
    assert bundled("3x4x5").pieces[first_piece(bundled("3x4x5"))].name == "X"


@pytest.mark.parametrize(("rows", "columns"), [(4, 5), (6, 6), (5, 8)])
def test_dominoes_in_balanced_partitions(rows: int, columns: int) -> None:
    """As many as Kasteleyn's formula (1961) says, and no partition has most of the work."""
    task = problem(box(1, rows, columns), {"D": {"shape": "##", "count": rows * columns // 2}})
    counted = [search_partition(task, k, keep=False) for k in range(len(partitions_of(task)))]
    angles = [np.cos(np.pi * np.arange(1, side + 1) / (side + 1)) for side in (rows, columns)]
    factors = 4 * angles[0][:, np.newaxis] ** 2 + 4 * angles[1] ** 2
    assert sum(one.raw_count for one in counted) == round(np.prod(factors) ** 0.25)
    work = [one.placements for one in counted]
    assert max(work) <= sum(work) / 2
    if columns == 8:
        assert len(work) == partitions.MIN_PARTITIONS
        assert max(work) < sum(work) / 20


@pytest.mark.parametrize("method", METHODS)
def test_partitions_are_disjoint_and_have_the_placements_of_the_whole_search(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However deep the prefixes are, the plain method makes the same placements."""
    task = problem(box(1, 4, 6), {"L": {"shape": "###\n#..", "count": 4}, "T": {"shape": "###\n.#.", "count": 2}})
    found = []
    for wanted in (2, 30, 100):
        monkeypatch.setattr(partitions, "MIN_PARTITIONS", wanted)
        partitions_of.cache_clear()
        found.append(tilings_of(task, method))
        assert len(distinct(found[-1][0])) == len(found[-1][0])
    partitions_of.cache_clear()
    assert all(np.array_equal(distinct(one), distinct(found[0][0])) for one, _ in found)
    if method == PLAIN:
        assert len({placements for _, placements in found}) == 1


def test_a_search_tells_of_its_progress_and_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    def tell(placements: int, tilings: int) -> None:
        told.append((placements, tilings))
        if len(told) == 3:
            raise KeyError

    monkeypatch.setattr(partition_search, "FIRST_SLICE", 10)
    with pytest.raises(KeyError):
        search_partition(bundled("6x10"), 0, on_progress=tell, keep=False)
    assert told == sorted(told)
    assert 10 <= told[0][0] < told[2][0] < 1000


def test_a_long_search_in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice ends early when a batch is full, which must not make the next ones longer without end."""
    monkeypatch.setattr(partition_search, "BATCH", 1)
    monkeypatch.setattr(partitions, "MIN_PARTITIONS", 2)
    partitions_of.cache_clear()
    task = problem(box(1, 6, 6), {"D": {"shape": "##", "count": 18}})
    counted = [search_partition(task, k, keep=False) for k in range(len(partitions_of(task)))]
    partitions_of.cache_clear()
    assert sum(one.raw_count for one in counted) == 6728


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(InputError, match=r"expected pruning or plain, found 'fast'"):
        search_partition(bundled("6x10"), 0, "fast")
