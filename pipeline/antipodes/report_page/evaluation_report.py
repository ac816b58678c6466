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
    sprites = Sprites()
    write(output, _page(result, sprites), sprites)


def _page(result: Evaluation, sprites: Sprites) -> Page:
    puzzle = result.puzzle
    return Page(
        kind="Evaluation of a heuristic",
        name=f"{result.name}, {puzzle.name}",
        description=puzzle.description,
        state=None if result.exhaustive else "A sample of positions was compared, so nothing here is a proof.",
        picture=start(sprites, puzzle.picture(puzzle.start_labels[0]), f"the {puzzle.depth_zero}"),
        facts=list(_facts(result)),
        sections=list(_sections(result, sprites)),
    )


def _facts(result: Evaluation) -> Iterator[tuple[str, str]]:
    yield f"{int(result.count.sum()):,}", "positions compared"
    yield f"{result.mean_absolute_error:.3f}", "mean absolute error"
    yield f"{result.root_mean_square_error:.3f}", "root mean square error"
    yield f"{result.mean_signed_error:.3f}", "mean of distance minus heuristic"
    yield "yes" if result.admissible else "no", "admissible: never above the distance"
    if result.consistent is not None:
        yield "yes" if result.consistent else "no", "consistent: no move raises it by more than 1"


def _sections(result: Evaluation, sprites: Sprites) -> Iterator[Section]:
    about = "The heuristic at each distance. The overestimate is the maximum of heuristic minus distance."
    yield Section("Errors by distance", about, [_errors(result)])
    if len(result.worst.positions):
        about = f"The {counted(len(result.worst.positions), 'position')} with the largest absolute error."
        yield Section("The worst positions", about, [_gallery(result, result.worst, sprites)])
    found = result.counterexamples
    if len(found.positions):
        about = f"The {counted(len(found.positions), 'position')} with the largest overestimate."
        yield Section("Not admissible", about, [_gallery(result, found, sprites)])


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
    puzzle, figures = result.puzzle, []
    for position, distance, estimate in zip(*found, strict=True):
        text = puzzle.format(position)
        board = sprites.board(puzzle.picture(position), GALLERY_SIDE, text)
        figures.append(figure(board, "", f"{estimate:.3f} at distance {distance}: {text}"))
    return gallery(figures)
