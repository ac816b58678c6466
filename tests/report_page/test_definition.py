"""Settings as TOML: what is written is what was there."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.report_page.provenance import as_toml
from antipodes.tilings.board_config import bundled_boards, load_board

texts = st.text(st.characters(exclude_categories=["Cs"]))
in_lines = st.lists(st.text('a"\\\n\r\t\x00\x7fé', max_size=6)).map("\n".join)
values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | in_lines,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(texts, values, max_size=5))
def test_settings_are_read_back(settings: dict[str, object]) -> None:
    assert tomllib.loads(as_toml("puzzle", settings)) == {"puzzle": settings}


@pytest.mark.parametrize("name", bundled_configs())
def test_bundled_puzzles_are_read_back(name: str) -> None:
    settings = dict(load_config(name).settings)
    assert tomllib.loads(as_toml("puzzle", settings)) == {"puzzle": settings}


@pytest.mark.parametrize("name", bundled_boards())
def test_bundled_boards_are_read_back(name: str) -> None:
    settings = dict(load_board(name).settings)
    assert tomllib.loads(as_toml("board", settings)) == {"board": settings}


def test_boards_are_drawn_as_people_write_them() -> None:
    assert (
        as_toml("puzzle", {"name": "x", "start": "1 2\n3 0\n"}) == '[puzzle]\nname = "x"\nstart = """\n1 2\n3 0\n"""\n'
    )
