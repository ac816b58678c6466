"""The card of an exported dataset: a README.md whose front matter dataset hubs read."""

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from antipodes.bridges.splits import TEST_PERCENT
from antipodes.report_page.provenance import as_toml, in_quotes, published, recompute
from antipodes.report_page.result_files import DEFINITION
from antipodes.storage.backend import MANIFEST
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes.tables.table import Table

CARD = "README.md"
LICENCE = "mit"
"""The licence of the program, by the name that dataset hubs use."""
SIZES = {
    10**3: "n<1K",
    10**4: "1K<n<10K",
    10**5: "10K<n<100K",
    10**6: "100K<n<1M",
    10**7: "1M<n<10M",
    10**8: "10M<n<100M",
    10**9: "100M<n<1B",
    10**10: "1B<n<10B",
    10**11: "10B<n<100B",
    10**12: "100B<n<1T",
}
"""The names that dataset hubs use for numbers of rows, by upper limit."""


def card(
    table: Table,
    store: TableStore,
    manifest: TableManifest,
    splits: Mapping[str, int],
    drawn: tuple[int, int] | None,
    symmetries: int | None,
) -> str:
    """Return the text of the card.

    ``splits`` are the numbers of rows; ``drawn`` is the size of the sample and its seed, if only a sample was written;
    ``symmetries`` is the number of symmetries that make up the classes, or None if they are unknown.
    """
    puzzle, depth_zero = table.puzzle, table.puzzle.depth_zero
    of = (
        f"{sum(splits.values()):,} of the {len(table):,} positions, drawn uniformly (seed {drawn[1]})"
        if drawn
        else (f"All {len(table):,} positions")
    )
    return "\n".join(
        [
            *front_matter(puzzle.name, splits),
            f"# Exact distances: {_inline(puzzle.name)}",
            "",
            f"{of} that are reachable from the {depth_zero} of the puzzle, each with its exact distance.",
            "",
            *_columns(table, symmetries),
            "## Splits",
            "",
            *(f"* `{split}`: {rows:,} positions" for split, rows in splits.items()),
            "",
            _about_splits(symmetries),
            "",
            "## Layers",
            "",
            "Number of positions at each distance, in the whole puzzle:",
            "",
            "| distance | positions |",
            "| ---: | ---: |",
            *(f"| {depth} | {count} |" for depth, count in enumerate(table.layers)),
            "",
            "## Definition",
            "",
            f"The file `{DEFINITION}` contains the exact rules of the puzzle:",
            "",
            *fenced("toml", as_toml("puzzle", published(manifest.puzzle))),
            *_provenance(table, store, manifest, drawn),
        ]
    )


def front_matter(name: str, splits: Mapping[str, int]) -> list[str]:
    """Return the lines of YAML that dataset hubs read. The name is the only text in them that comes from the store."""
    size = next((name for limit, name in SIZES.items() if sum(splits.values()) < limit), "n>1T")
    files = [line for split in splits for line in (f"  - split: {split}", f"    path: data/{split}-*.parquet")]
    return [
        "---",
        f"pretty_name: {in_quotes(f'Exact distances: {name}')}",
        f"license: {LICENCE}",
        f'size_categories: ["{size}"]',
        "tags: [puzzles, heuristics, planning]",
        "configs:",
        "- config_name: default",
        "  data_files:",
        *files,
        "---",
        "",
    ]


def _columns(table: Table, symmetries: int | None) -> list[str]:
    puzzle = table.puzzle
    moves = "names" if puzzle.moves.names else "numbers"
    best = (
        f"the {moves} of all moves that lead to a position one move nearer to the {puzzle.depth_zero}"
        if puzzle.moves.reversible
        else "null, because the puzzle has irreversible moves: distances are from the start, not to it"
    )
    unknown = "1, because the symmetries of these moves are unknown"
    return [
        "| column | type | meaning |",
        "| --- | --- | --- |",
        "| `position` | string | the position as text, as the program reads it |",
        f"| `labels` | list of {puzzle.places} uint8 | the label on each place |",
        f"| `distance` | int32 | minimum number of moves between the {puzzle.depth_zero} and the position |",
        f"| `best_moves` | list | {best} |",
        "| `index` | int64 | the index of the position in the table |",
        f"| `class_size` | int32 | {'number of positions in its symmetry class' if symmetries else unknown} |",
        "",
    ]


def _about_splits(symmetries: int | None) -> str:
    rule = (
        f"A class is in `test` if `(hash >> 32) % 100 < {TEST_PERCENT}`, where `hash` is the 64-bit FNV-1a hash of the "
        "labels of its lexicographically first position, one byte for each place. The splits are therefore the same in "
        "every export, whatever its sample."
    )
    classes = (
        f"The puzzle has {symmetries:,} symmetries, including the identity. All positions that they map to each other "
        "form a class and are in the same split, so no image of a test position is in `train`."
        if symmetries
        else "The symmetries of the puzzle are unknown, so each position is a class by itself."
    )
    return f"{classes} {rule}"


def _provenance(table: Table, store: TableStore, manifest: TableManifest, drawn: tuple[int, int] | None) -> list[str]:
    sample = f" --sample {drawn[0]} --seed {drawn[1]}" if drawn else ""
    checked = (
        "Each chunk of distances that was read was compared with its SHA-256. "
        + (
            "For each position except those at distance 0, a move to a position one nearer was found. "
            if table.puzzle.moves.reversible
            else ""
        )
        + "`antipodes verify` checks every distance of the table against its neighbours."
    )
    return [
        "## How the data were computed and verified",
        "",
        f"A complete breadth-first search with Antipodes {version('antipodes')} computed the distances. {checked}",
        "",
        f"* fingerprint of the puzzle (SHA-256): `{manifest.fingerprint}`",
        f"* SHA-256 of the table's `{MANIFEST}`: `{store.manifest_file.current_digest()}`",
        "",
        "To recompute the table, verify it, and write these files again:",
        "",
        *fenced(
            "sh",
            "\n".join(
                [
                    *recompute(manifest, DEFINITION),
                    "antipodes verify STORE",
                    f"antipodes export STORE FOLDER --parquet{sample}",
                ]
            ),
        ),
    ]


def _inline(text: str) -> str:
    """Return a text as code within a line of Markdown."""
    mark = "`" * (1 + _longest_run(text))
    return f"{mark} {text} {mark}" if "`" in text else f"{mark}{text}{mark}"


def fenced(language: str, text: str) -> Sequence[str]:
    """Return the lines of a block of code, between fences longer than any in the text."""
    fence = "`" * max(3, 1 + _longest_run(text))
    return [f"{fence}{language}", text.rstrip("\n"), fence, ""]


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
