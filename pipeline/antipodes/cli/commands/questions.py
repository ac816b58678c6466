"""The commands of the declared questions to a table: text, JSON and CSV."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

from antipodes.cli.command import command, commands
from antipodes.cli.running import preparing
from antipodes.cli.shared_options import AsJson, PuzzleOfStore, Store, declared_option
from antipodes.cli.tabular import AsCsv, print_table, prints_table
from antipodes.stores import find_named
from antipodes.system.declared_questions import DeclaredQuestion
from antipodes.tables.questions import QUESTIONS
from antipodes.tables.table import open_table
from antipodes_tasks.base.option_names import option_of

KEYWORD = Parameter.KEYWORD_ONLY

app = commands()


def _command(question: DeclaredQuestion) -> Callable[..., None]:
    """Return the function of a question's command."""

    @prints_table
    def ask(store: str, puzzle: str | None, as_csv: bool, as_json: bool, **given: Any) -> None:
        checked = question.check(given, option_of)
        named = find_named(store, puzzle)
        with open_table(named.address, puzzle=named.puzzle) as table, preparing():
            answer = question.method(table, **checked)
        print_table(answer, as_csv, as_json)

    shared = {"store": Store, "puzzle": PuzzleOfStore, "as_csv": AsCsv, "as_json": AsJson}
    defaults: dict[str, Any] = {"store": Parameter.empty, "puzzle": None, "as_csv": False, "as_json": False}
    arguments = [Parameter(name, KEYWORD, default=defaults[name], annotation=kind) for name, kind in shared.items()]
    options = [
        argument.replace(annotation=Annotated[argument.annotation, declared_option(name, declared)])
        for name, (argument, declared) in question.parameters.items()
    ]
    vars(ask)["__signature__"] = Signature([arguments[0], *options, *arguments[1:]])
    ask.__doc__ = question.help
    return ask


for _question in QUESTIONS:
    command(app, _question.name, *_question.examples)(_command(_question))
