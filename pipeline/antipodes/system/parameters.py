"""Parameters of commands, endpoints and functions, and the rules about parameters that exclude or need each other.

Each rule exists once. Its messages name a parameter as the user writes it: an option of a command, a parameter of a
request, or an argument in Python. A function, `Spell`, returns this spelling.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.option_names import option_of
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.base.values import ValueKind

Spell = Callable[[str], str]
"""Returns a parameter as the user writes it, given its name."""
Given = Mapping[str, Any]
"""The values of parameters by name; a parameter is not given if its value is None, False or an empty list."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a question: an option, a parameter of a request, and an argument in Python."""

    kind: ValueKind
    help: str
    metavar: str | None = None
    """Placeholder of the value in help texts, or None for a flag."""
    over_http: bool = True
    """Whether requests have the parameter, too."""

    def checked(self, value: Any, name: str) -> Any:
        """Return a value, numpy scalars as Python scalars; raise InputError, naming the parameter, if it is invalid.

        None means that the parameter is not given.
        """
        plain = value.item() if isinstance(value, np.generic) else value
        return None if plain is None else self.kind.check(plain, name, InputError)


class Rule(Protocol):
    """A rule about the parameters that are given together."""

    def check(self, given: Given, spell: Spell) -> None:
        """Raise InputError if the given parameters break the rule."""


def check_rules(rules: Iterable[Rule], given: Given, spell: Spell) -> None:
    """Raise InputError for the first rule that the given parameters break."""
    for rule in rules:
        rule.check(given, spell)


def as_options(names: Mapping[str, str]) -> Spell:
    """Return the spelling on the command line; ``names`` are the parameters that are not options of the same name."""
    return lambda name: names.get(name) or option_of(name)


def is_given(value: object) -> bool:
    """Return whether the value of a parameter means that it is given."""
    return value is not None and value is not False and value != []


class Premise(Protocol):
    """A condition on the values of parameters."""

    def holds(self, given: Given) -> bool:
        """Return whether the values meet the condition."""

    def written(self, given: Given, spell: Spell) -> str:
        """Return what the user wrote to meet the condition, or an empty string."""


@dataclass(frozen=True)
class Chosen:
    """The condition that a parameter is given, or that it has one of some ``values``."""

    name: str
    values: tuple[str | None, ...] | None = None
    """The values; None among them stands for a parameter that is not given. Without values, the parameter is given."""
    implied_by: tuple[str, ...] = ()
    """The parameter with these values, and others that imply one of them. Messages name the first that is given."""

    def holds(self, given: Given) -> bool:
        """Return whether the parameter is given or has one of the values."""
        value = given.get(self.name)
        return is_given(value) if self.values is None else value in self.values

    def written(self, given: Given, spell: Spell) -> str:
        """Return what the user wrote to choose the value; an empty string if no parameter chose it."""
        names = self.implied_by or (self.name,)
        first = next((name for name in names if is_given(given.get(name))), None)
        if first is None:
            return ""
        return f"{spell(first)} {shorten(given[first])}" if self.values and first == names[0] else spell(first)

    def choice(self, spell: Spell) -> str:
        """Return how to meet the condition."""
        name, *_ = self.implied_by or (self.name,)
        return f"{spell(name)} {' or '.join(filter(None, self.values))}" if self.values else spell(name)


@dataclass(frozen=True)
class OneOf:
    """At most one of the parameters can be given; if one is ``required``, exactly one."""

    names: tuple[str, ...]
    required: bool = False

    def check(self, given: Given, spell: Spell) -> None:
        """Raise InputError if several are given, or none although one is required."""
        chosen = [spell(name) for name in self.names if is_given(given.get(name))]
        if len(chosen) > 1 or (self.required and not chosen):
            *others, last = map(spell, self.names)
            some = f", not {' and '.join(chosen)}" if 0 < len(chosen) < len(self.names) else ""
            raise InputError(f"give {'only ' if chosen else ''}one of {', '.join(others)} and {last}{some}")


@dataclass(frozen=True)
class Prerequisite:
    """A parameter can only be given with another one."""

    name: str
    other: Chosen

    def check(self, given: Given, spell: Spell) -> None:
        """Raise InputError if only the first parameter is given."""
        if not is_given(given.get(self.name)) or self.other.holds(given):
            return
        instead = self.other.written(given, spell)
        found = f", not with {instead}" if instead else ""
        raise InputError(f"{spell(self.name)} can only be used with {self.other.choice(spell)}{found}")


@dataclass(frozen=True)
class Excludes:
    """A parameter cannot be given together with any of the others."""

    name: str
    others: tuple[Premise, ...]
    hint: str = ""
    """End of the message: the reason or the remedy, after its punctuation mark."""

    def check(self, given: Given, spell: Spell) -> None:
        """Raise InputError, naming the first of the others that is given."""
        other = next((one for one in self.others if one.holds(given)), None)
        if is_given(given.get(self.name)) and other is not None:
            raise InputError(f"{spell(self.name)} cannot be combined with {other.written(given, spell)}{self.hint}")


def one_of(*names: str, required: bool = False) -> OneOf:
    """Return the rule that at most one parameter is given, or exactly one if it is ``required``."""
    return OneOf(names, required)


def needs(names: Iterable[str], other: str | Chosen) -> tuple[Prerequisite, ...]:
    """Return the rules that each of the parameters can only be given with another one."""
    return tuple(Prerequisite(name, Chosen(other) if isinstance(other, str) else other) for name in names)


def excludes(name: str, *others: str | Premise, hint: str = "") -> Excludes:
    """Return the rule that a parameter cannot be given with any of the other parameters, or under some conditions."""
    return Excludes(name, tuple(Chosen(one) if isinstance(one, str) else one for one in others), hint)
