"""Error messages about command-line arguments: the option, the expected value, and the given value.

The libraries that parse the arguments have messages of their own, which omit the given value.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from antipodes_tasks.base.errors import InputError, NotAStoreError
from antipodes_tasks.base.quoting import quote

LONG_WORD = re.compile(r"(\S{60})\S+")
MAX_MESSAGE_LENGTH = 300
"""Maximum length in characters of a message of typer, which quotes whole arguments."""


@contextmanager
def naming(option: str) -> Iterator[None]:
    """Prefix errors raised in the block with the name of the option whose value is used there."""
    try:
        yield
    except (InputError, NotAStoreError) as error:
        if option in str(error):
            raise
        raise type(error)(f"{option}: {error}") from error


def usage_message(error: typer.TyperException) -> str:
    """Return the message for an error that typer found in the arguments."""
    parameter, problems = getattr(error, "param", None), getattr(error.__cause__, "errors", None)
    if parameter is not None and callable(problems):
        return f"{_name(parameter)}: expected {_expected(parameter)}, found {quote(problems()[0]['input'])}"
    if parameter is not None and isinstance(error, typer.BadParameter) and not error.message:
        return f"the {parameter.param_type_name} {_name(parameter)} is missing"
    message = " ".join(LONG_WORD.sub(r"\1…", error.format_message()).split())
    return message if len(message) <= MAX_MESSAGE_LENGTH else message[:MAX_MESSAGE_LENGTH] + "…"


def _name(parameter: Any) -> str:
    """Return the name of an option or argument as in the help."""
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return str(parameter.metavar or parameter.name.upper())


def _expected(parameter: Any) -> str:
    """Return the values that an option takes, as text."""
    kind = getattr(parameter, "type_descriptor", None)
    nouns: dict[Any, str] = {int: "an integer", float: "a number"}
    noun = nouns.get(getattr(kind, "annotation", None), "text in UTF-8")
    least, most = getattr(parameter, "min", None), getattr(parameter, "max", None)
    if least is None and most is None:
        return noun
    if most is None:
        return f"{noun} of at least {least}"
    return f"{noun} of at most {most}" if least is None else f"{noun} from {least} to {most}"
