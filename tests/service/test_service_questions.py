"""The endpoints of the declared questions. What is refused is generated from the declarations."""

from collections.abc import Iterator

import pytest
from service_client import Client, fits
from service_stores import TABLES, TILINGS

from antipodes.system.declared_questions import DeclaredQuestion
from antipodes.system.records import as_dict
from antipodes.tables import branching_factors
from antipodes.tables.questions import QUESTIONS
from antipodes.tables.table import Table


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
@pytest.mark.parametrize("name", TABLES)
def test_the_answer_is_that_of_the_method(
    question: DeclaredQuestion, name: str, client: Client, tables: dict[str, Table]
) -> None:
    found = client.value(f"/stores/{name}/{question.name}")
    assert fits(found, question.record)
    assert found == as_dict(getattr(tables[name], question.name)())


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_stores_without_a_table(question: DeclaredQuestion, client: Client) -> None:
    assert client.refused(f"/stores/counts/{question.name}") == (
        "this needs a table, but the store contains only counts of layers"
    )
    assert "contains tilings" in client.refused(f"/stores/{next(iter(TILINGS))}/{question.name}")


def bounds() -> Iterator[tuple[str, str, int, str]]:
    """A value beside each bound of each parameter of each question, and what is expected instead."""
    for question in QUESTIONS:
        for name, (_, declared) in question.parameters.items():
            low, high = declared.kind.minimum, declared.kind.maximum
            if declared.over_http and low is not None and high is not None:
                yield question.name, name, low - 1, f"{low} or more"
                yield question.name, name, high + 1, f"{high} or less"


@pytest.mark.parametrize(("question", "name", "value", "expected"), list(bounds()))
def test_values_out_of_range(question: str, name: str, value: int, expected: str, client: Client) -> None:
    message = client.refused(f"/stores/fields/{question}", {name: value})
    assert message == f"{name}: expected {expected}, found '{value}'"


def test_the_endpoint_of_a_large_table_uses_a_sample(
    client: Client, tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branching_factors, "MAX_ENTRIES", 10)
    monkeypatch.setattr(branching_factors, "DEFAULT_SAMPLE", 30)
    found = client.value("/stores/fields/branching")
    assert (found["exact"], found["counted"], found["positions"]) == (False, 30, 81)
    assert found == client.value("/stores/fields/branching", {"exact": "true"}), "requests have no such parameter"
    assert client.value("/stores/fields/branching", {"sample": 40})["counted"] == 40
