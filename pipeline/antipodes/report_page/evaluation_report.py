"""The report on the evaluation of a heuristic: its errors by distance, the worst positions, and counterexamples."""

from collections.abc import Iterator
from pathlib import Path

from antipodes.drawing.boards import Sprites
from antipodes.drawing.markup import Html, element, table
from antipodes.report_page.page import GALLERY_SIDE, Page, Section, check_output, figure, gallery, start, write
from antipodes.tables.evaluation import Estimates, Evaluation
from antipodes_tasks.base.quoting import counted

COLUMNS = ("depth", "count", "mean", "minimum", "maximum", "absolute_error", "overestimate")


def write_evaluation(result: Evaluation, output: Path) -> None:
    """Write the report on an evaluation, replacing an existing file.

    Raises InputError if the file name does not end in .html, and StoreError if the file cannot be written.
    """
    check_output(output)
    puzzle, sprites = result.puzzle, Sprites()
    page = Page(
        kind="Evaluation of a heuristic",
        name=f"{result.name}, {puzzle.name}",
        description=puzzle.description,
        state=None if result.exhaustive else "A sample of positions was compared, so nothing here is a proof.",
        picture=start(sprites, puzzle.picture(puzzle.start_labels[0]), f"the {puzzle.depth_zero}"),
        facts=_facts(result),
        sections=list(_sections(result, sprites)),
    )
    write(output, page, sprites)


def _facts(result: Evaluation) -> list[tuple[str, str]]:
    facts = [
        (f"{int(result.count.sum()):,}", "positions compared"),
        (f"{result.mean_absolute_error:.3f}", "mean absolute error"),
        (f"{result.root_mean_square_error:.3f}", "root mean square error"),
        (f"{result.mean_signed_error:.3f}", "mean of distance minus heuristic"),
        ("yes" if result.admissible else "no", "admissible: never above the distance"),
    ]
    if result.consistent is not None:
        facts.append(("yes" if result.consistent else "no", "consistent: no move raises it by more than 1"))
    return facts


def _sections(result: Evaluation, sprites: Sprites) -> Iterator[Section]:
    yield Section(
        "Errors by distance",
        "The heuristic at each distance. The overestimate is the maximum of heuristic minus distance.",
        [_errors(result)],
    )
    listed = {
        "The worst positions": ("absolute error", result.worst),
        "Not admissible": ("overestimate", result.counterexamples),
    }
    for heading, (error, found) in listed.items():
        if count := len(found.positions):
            yield Section(
                heading,
                f"The {counted(count, 'position')} with the largest {error}.",
                [_gallery(result, found, sprites)],
            )


def _errors(result: Evaluation) -> Html:
    columns = result.to_dict()
    rows = [
        (f"{depth}", f"{count:,}", *(f"{number:.3f}" for number in numbers))
        for depth, count, *numbers in zip(*(columns[name] for name in COLUMNS), strict=True)
        if count
    ]
    names = [name.replace("_", " ").replace("depth", "distance").replace("count", "positions") for name in COLUMNS]
    return element("div", table(names, rows), class_="counts")


def _gallery(result: Evaluation, found: Estimates, sprites: Sprites) -> Html:
    puzzle, texts = result.puzzle, map(result.puzzle.format, found.positions)
    return gallery(
        figure(
            sprites.board(puzzle.picture(position), GALLERY_SIDE, text),
            "",
            f"{estimate:.3f} at distance {distance}: {text}",
        )
        for text, position, distance, estimate in zip(texts, *found, strict=True)
    )
