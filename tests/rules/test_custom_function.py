"""User-written code cannot end the program, and every error in it is the user's."""

import os
import pickle
import posix
import sys
from collections.abc import Callable
from typing import Any

import pytest

from antipodes_tasks.base.errors import InputError, SourceError
from antipodes_tasks.rules.custom_function import CustomFunction, guard


class OwnError(BaseException):
    """An error that `except Exception` does not catch."""


def raise_own(number: int) -> None:
    raise OwnError("no luck")


def exit_at_once(number: int) -> None:
    os._exit(number)


def exit_by_posix(number: int) -> None:
    posix._exit(number)


def become_another_program(number: int) -> None:
    os.execlp("false", "false")


def exit_child(number: int) -> int:
    child = os.fork()
    if not child:
        os._exit(number)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def exit_child_by_name(number: int) -> int:
    child = os.fork()
    if not child:
        os._exit(status=number)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def exit_by_name(number: int) -> None:
    os._exit(status=number)


def run_child(number: int) -> int:
    child = os.fork()
    if not child:
        os.execlp("true", "true")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (raise_own, InputError, r"OwnError .test_custom_function.py, line [0-9]+.: no luck"),
        (exit_at_once, SourceError, r"SystemExit .test_custom_function.py, line [0-9]+.: os._exit.3."),
        (exit_by_name, SourceError, r"SystemExit .test_custom_function.py, line [0-9]+.: os._exit.3."),
        (exit_by_posix, SourceError, r"SystemExit .test_custom_function.py, line [0-9]+.: os._exit.3."),
        (
            become_another_program,
            SourceError,
            r"SystemExit .test_custom_function.py, line [0-9]+.: os.execv.b'.*false'.",
        ),
        (sys.exit, SourceError, "SystemExit: 3"),
    ],
)
def test_ends_of_user_written_code_are_errors(
    function: Callable[..., Any], kind: type[Exception], message: str
) -> None:
    functions = os._exit, posix._exit, os.execv, posix.execve
    with pytest.raises(kind, match=f"^heuristic: {message}"):
        CustomFunction(function, "heuristic")(3)  # after a status of 0, pytest would seem to have passed
    assert (os._exit, posix._exit, os.execv, posix.execve) == functions


@pytest.mark.parametrize(("function", "status"), [(exit_child, 3), (exit_child_by_name, 3), (run_child, 0)])
def test_child_processes_of_user_written_code_can_exit(function: Callable[[int], int], status: int) -> None:
    assert CustomFunction(function, "heuristic")(status) == status


def test_user_written_code_that_names_an_ending_is_sent_to_workers() -> None:
    source: dict[str, Any] = {"__name__": "user"}
    with guard("heuristic"):
        exec("from os import _exit\ndef estimate(number):\n    _exit(number)\n", source)
    received = pickle.loads(pickle.dumps(CustomFunction(source["estimate"], "heuristic")))
    with pytest.raises(SourceError, match=r"os._exit.7."):
        received(7)


def test_stops_by_the_program_are_passed_on() -> None:
    handler: dict[str, Any] = {"__name__": "antipodes.cli.failures", "OwnError": OwnError}
    exec("def stop():\n    raise OwnError\n", handler)  # as the handler of a signal does
    with pytest.raises(OwnError), guard("heuristic"):
        handler["stop"]()
