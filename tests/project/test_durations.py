"""The CPU time of the tests: what a test pays for only because it is the first stands apart."""

from collections.abc import Iterator
from pathlib import Path

import cpu_times
import pytest
from durations import durations


def test_kinds_are_summed_apart_from_the_tests(tmp_path: Path) -> None:
    first = {"cpu": 1.5, "compilation": 19, "fixtures": 2, "browser": 3}
    cases = (("a", "first", first), ("a", "other", {"cpu": 2.25}))
    junit = tmp_path / "test.xml"
    junit.write_text(
        "<testsuite>"
        + "".join(
            f'<testcase classname="tests.{file}" name="{name}"><properties>'
            + "".join(f'<property name="{kind}_seconds" value="{value}"/>' for kind, value in kinds.items())
            + "</properties></testcase>"
            for file, name, kinds in cases
        )
        + "</testsuite>"
    )
    found = durations(junit)
    assert found["cpu_seconds"] == {"tests": 4, "compilation": 19, "fixtures": 2, "browsers": 3}
    assert (found["files"], found["slowest"]) == ({"a": 3.8}, {"a::other": 2.2, "a::first": 1.5})


def test_nothing_is_charged_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    clock: Iterator[float] = iter([0.0, 1.0, 3.0, 7.0])
    monkeypatch.setattr(cpu_times, "cpu_seconds", lambda: next(clock))
    monkeypatch.setattr(cpu_times, "CHARGED", cpu_times.CHARGED.__class__())
    with cpu_times.charged("fixtures"), cpu_times.charged("compilation"):
        pass
    assert cpu_times.CHARGED == {"compilation": 2.0, "fixtures": 5.0}


def test_fixtures_of_a_session_are_not_charged_to_tests(request: pytest.FixtureRequest) -> None:
    """Only plugins are asked about them, not the files conftest.py."""
    hooks = request.session.ihook.pytest_fixture_setup.get_hookimpls()
    assert cpu_times in [hook.plugin for hook in hooks]
