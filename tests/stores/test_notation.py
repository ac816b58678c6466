"""The names of moves are those of the puzzle that the user names, since the fingerprint does not protect them."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command
from stores import read_manifest, write_manifest

import antipodes as ap
from antipodes.service.library import Library, stores_named
from antipodes.storage.backend import MANIFEST

PUZZLE = 'name = "g"\nfamily = "generators"\nstart = "1 2 3 4"\nmoves = { A = "(0 1 2 3)", B = "(0 1)" }\n'
STORE = "outputs/g.zarr"
AFTER_A = "4 1 2 3"


@pytest.fixture
def forged(cli: Command, tmp_path: Path) -> str:
    """A puzzle file in the working directory, and its store, in which the names of two moves are exchanged."""
    (tmp_path / "g.toml").write_text("[puzzle]\n" + PUZZLE)
    assert cli("run", "g.toml", "--quiet").status == 0
    path = tmp_path / STORE / MANIFEST
    content = read_manifest(path)
    moves = content["puzzle"]["moves"]
    content["puzzle"]["moves"] = {"B": moves["A"], "A": moves["B"]}
    write_manifest(path, content)
    return "g.toml"


def shown_moves(cli: Command, *command: object) -> list[str]:
    found = json.loads(cli(*command, "--json").out)
    (answer,) = found if isinstance(found, list) else [found]
    moves: list[str] = answer["moves"]
    return moves


@pytest.mark.parametrize("naming", [["g.toml"], [STORE, "--puzzle", "g.toml"]])
def test_commands_use_the_names_of_moves_of_the_puzzle(forged: str, cli: Command, naming: list[str]) -> None:
    store, *puzzle = naming
    assert shown_moves(cli, "query", store, AFTER_A, "--path", *puzzle) == ["A'"]
    assert shown_moves(cli, "query", STORE, AFTER_A, "--path") == ["B'"]
    assert shown_moves(cli, "solve", forged, AFTER_A, "--method", "table") == ["A'"]
    assert cli("query", store, "--moves", "A", *puzzle).out.startswith(f"{cli('query', forged, AFTER_A).out}")
    assert json.loads(cli("verify", store, "--json", *puzzle).out)["described_by"] == "user"
    assert cli("play", store, AFTER_A, "--once", *puzzle).out == cli("play", forged, AFTER_A, "--once").out
    assert cli("export", store, "results", *puzzle).status == 0
    exported = json.loads(Path("results/results.json").read_text())
    assert exported["definition"]["moves"] == {"A": "(0 1 2 3)", "B": "(0 1)"}


def test_verify_says_what_a_store_alone_does_not_prove(forged: str, cli: Command) -> None:
    verdict = cli("verify", STORE)
    assert verdict.status == 0
    assert verdict.out.splitlines()[-1] == (
        "not checked: whether this is the puzzle that you mean, with its names of moves; name it with --puzzle to "
        "check this"
    )
    assert "not checked" not in cli("verify", forged).out
    assert json.loads(cli("verify", STORE, "--json").out)["described_by"] == "store"


def test_python_uses_the_names_of_moves_of_the_puzzle(forged: str) -> None:
    openings: list[Callable[[], ap.Table]] = [
        lambda: ap.open_table(forged),
        lambda: ap.open_table(STORE, puzzle=forged),
        lambda: ap.open_table(Path(STORE), puzzle=ap.load_puzzle(forged)),
        lambda: pickle.loads(pickle.dumps(ap.open_table(forged))),
    ]
    for opening in openings:
        with opening() as table:
            assert table.puzzle.follow("A")[-1].tolist() == ap.load_puzzle(forged).follow("A")[-1].tolist()
            assert table.puzzle.settings == ap.load_puzzle(forged).settings
    with ap.open_table(STORE) as alone:
        assert alone.puzzle.follow("A")[-1].tolist() != ap.load_puzzle(forged).follow("A")[-1].tolist()
    assert ap.verify(forged).described_by == "user"
    assert ap.verify(STORE).described_by == "store"


@pytest.mark.parametrize("texts", [["g.toml"], ["g.toml", "outputs"], ["outputs", "g.toml"]])
def test_the_service_uses_the_names_of_moves_of_the_puzzle(forged: str, texts: list[str]) -> None:
    library = Library(stores_named(texts), 1 << 20)
    assert list(library.storages) == ["g"]
    after = library.opened("g").puzzle.follow("A")[-1]
    assert after.tolist() == ap.load_puzzle(forged).follow("A")[-1].tolist()
