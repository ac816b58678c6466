"""Questions to a store, each declared once: a method with declared parameters that returns a record.

From the declaration follow a command, an endpoint of the service, JSON, CSV, sections of the reference, and tests of
what is refused.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from importlib import import_module
from inspect import Parameter as Argument
from inspect import getdoc, signature
from typing import Any, ParamSpec, Protocol, TypeVar, get_type_hints

from antipodes.system.parameters import Parameter, Rule, Spell, check_rules
from antipodes_tasks.base.option_names import option

P = ParamSpec("P")
DECLARED = "declared_question"
"""Name of the attribute of a method with its `DeclaredQuestion`."""


class Tabular(Protocol):
    """A record that is a table. A command prints its lines, or with ``--csv`` its rows."""

    def lines(self) -> Iterable[str]:
        """Return the lines for a terminal."""

    def rows(self) -> Iterable[tuple[object, ...]]:
        """Return the rows, beginning with the names of the columns."""


R = TypeVar("R", bound=Tabular)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as comma-separated values."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@dataclass(frozen=True)
class DeclaredQuestion:
    """A question to a table."""

    method: Callable[..., Tabular]
    """The method of the table; its keyword arguments are the parameters."""
    module: str
    """The module with the class of the answer, which is imported when it is needed."""
    examples: tuple[str, ...]
    """Examples of the command."""
    rules: tuple[Rule, ...]

    @property
    def name(self) -> str:
        """The name of the command, the endpoint and the method."""
        return self.method.__name__

    @property
    def help(self) -> str:
        """The first line of the method's docstring."""
        return (getdoc(self.method) or "").split("\n")[0]

    @property
    def parameters(self) -> Mapping[str, tuple[Argument, Parameter]]:
        """Each parameter by name: as an argument with its type and default, and as declared."""
        arguments = signature(self.method, eval_str=False).parameters
        hints = self._hints
        return {
            name: (one.replace(annotation=hints[name].__origin__), hints[name].__metadata__[0])
            for name, one in arguments.items()
            if name != "self"
        }

    @property
    def record(self) -> type[Tabular]:
        """The class of the answer."""
        found: type[Tabular] = self._hints["return"]
        return found

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.method, localns=vars(import_module(self.module)), include_extras=True)

    def check(self, given: Mapping[str, Any], spell: Spell) -> dict[str, Any]:
        """Return the checked values of parameters, the defaults in place of None.

        Raises InputError if a value is invalid, or a rule is broken.
        """
        parameters, checked = self.parameters, {}
        for name, value in given.items():
            argument, declared = parameters[name]
            checked[name] = argument.default if value is None else declared.checked(value, spell(name))
        check_rules(self.rules, checked, spell)
        return checked


def question(module: str, *examples: str, rules: tuple[Rule, ...] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that declares a method of a table as a question, and checks its arguments.

    Each argument is keyword-only, and its annotation contains a `Parameter`. ``module`` contains the class of the
    answer; the ``examples`` are commands.
    """

    def declare(method: Callable[P, R]) -> Callable[P, R]:
        declared = DeclaredQuestion(method, module, examples, rules)

        @wraps(method)
        def asked(*table: P.args, **given: P.kwargs) -> R:
            bound = signature(method).bind(*table, **given)
            bound.apply_defaults()
            return method(*bound.args, **declared.check(bound.kwargs, option))

        setattr(asked, DECLARED, declared)
        return asked

    return declare


def questions_of(kind: type) -> Iterator[DeclaredQuestion]:
    """Yield the questions that the methods of a class declare, in their order."""
    return (getattr(one, DECLARED) for one in vars(kind).values() if hasattr(one, DECLARED))
