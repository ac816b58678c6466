"""Signals to a program that is at work."""

import signal
import time
import weakref

import pytest

from antipodes.cli.failures import Stopped
from antipodes.cli.running import Interrupts


class Node:
    """An object that can be weakly referenced."""


def test_the_first_signal_is_noted_and_the_second_stops(capsys: pytest.CaptureFixture[str]) -> None:
    with Interrupts() as interrupts:
        assert not interrupts.requested()
        signal.raise_signal(signal.SIGTERM)
        assert interrupts.requested()
        with pytest.raises(Stopped, match="resume with: the same command"):
            signal.raise_signal(signal.SIGTERM)
    assert "interrupt again to stop immediately" in capsys.readouterr().err


def test_a_stop_in_a_finaliser_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    """Python prints what the callback of a weak reference raises, and goes on."""
    node = Node()
    reference = weakref.ref(node, lambda _: signal.raise_signal(signal.SIGTERM))
    with Interrupts():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Stopped):  # noqa: PT012  (it comes a moment later)
            del node
            assert reference() is None
            time.sleep(10)
    assert "Traceback" not in capsys.readouterr().err
