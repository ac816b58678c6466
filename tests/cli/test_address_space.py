"""A limit of the address space is named if memory runs out."""

import resource

import pytest

from antipodes.cli.failures import status_of

LIMIT = 600 << 20


@pytest.mark.parametrize(
    "error",
    [
        ImportError("failed to map segment from shared object"),
        OSError("Could not find/load shared object file"),
        MemoryError(),
        RuntimeError("can't start new thread"),
    ],
)
def test_the_limit_is_named(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.delenv("ANTIPODES_TRACEBACK")
    assert status_of(fail) == 1
    assert "ulimit" not in capsys.readouterr().err
    monkeypatch.setattr(resource, "getrlimit", lambda which: (LIMIT, LIMIT))
    assert status_of(fail) == 1
    message = "out of memory: the address space of processes is limited to 600.0 MiB; raise it with: ulimit -v\n"
    assert capsys.readouterr().err.endswith(message)


def test_other_errors_are_not_blamed_on_the_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise RuntimeError("dictionary changed size during iteration")

    monkeypatch.delenv("ANTIPODES_TRACEBACK")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (LIMIT, LIMIT))
    assert status_of(fail) == 1
    assert "This is a bug" in capsys.readouterr().err
