"""`play`: walking through a table by keys, by lines, and in one go."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from forks import PROGRAM
from programs import Command
from stores import toml
from waiting import PATIENCE

from antipodes.cli.commands.play import Player, Pressed, Typing
from antipodes.solving.walkthrough import Game
from antipodes.tables.table import open_table

NEAR, FARTHEST = "1 2 3 4 0 5 7 8 6", "8 6 7 2 5 4 3 0 1"


def test_once_prints_a_shortest_way(finished: Path, cli: Command) -> None:
    shown = cli("play", finished, FARTHEST, "--once").out
    assert [int(left) for left in re.findall(r"^(\d+) left$", shown, re.MULTILINE)] == list(range(31, -1, -1))
    assert shown.count("╭───────╮") == 32


def test_each_line_is_a_command(finished: Path, cli: Command) -> None:
    shown = cli("play", finished, NEAR, stdin="\nb\nstep\nwrong\n1\nback\n\nq\nstep\n").out
    heads = re.findall(r"^eight-puzzle: (.*)$", shown, re.MULTILINE)
    assert [head.partition(",")[0] for head in heads] == [
        "2 moves from the start",
        "1 move from the start",
        "2 moves from the start",
        "1 move from the start",
        "1 move from the start",
        "2 moves from the start",
        "1 move from the start",
        "solved",
    ]
    assert "expected a legal move (" in shown
    assert "found 'wrong'" in shown


def test_distances_after_moves_are_those_of_the_table(finished: Path) -> None:
    with open_table(finished) as table:
        game = Game(table, FARTHEST)
        while game.distance:
            choices = game.choices
            assert [table.distance(one.position) for one in choices] == [one.distance for one in choices]
            assert {one.distance - game.distance for one in choices} <= {-1, 1}
            made = game.step()
            assert made is not None
            assert made.distance == game.distance
        assert game.step() is None
        assert game.moves_made == 31


def test_moves_by_name_by_number_and_by_arrow(finished: Path) -> None:
    with open_table(finished) as table:
        player = Player(Game(table, NEAR))
        names = [one.name for one in player.game.choices]
        for number, name in enumerate(names, start=1):
            for word in (name, name.lower(), str(number)):
                player.obey(word)
                assert not player.has_quit
                assert player.message == ""
                assert player.game.moves_made == 1
                player.obey("backspace")
        player.obey("b")
        assert player.message == "no move to undo"
        player.obey("q")
        assert player.has_quit


@pytest.mark.parametrize(
    ("text", "at", "moves", "message"),
    [
        ("L U", "1 2 3 4 5 6 7 8 0", 2, ""),
        ("(L R)2 L", "1 2 3 4 5 0 7 8 6", 5, ""),
        ("LRLR", NEAR, 4, ""),
        ("1 b 1 1", "0 1 3 4 2 5 7 8 6", 2, ""),
        (FARTHEST, FARTHEST, 0, ""),
        ("1 2 3 4 5 6 8 7 0", NEAR, 0, "is unreachable"),
        ("L R U U", "1 2 3 4 8 5 7 0 6", 3, "found 'U', word 4 of 4"),
        ("LLL", NEAR, 0, "expected a legal move ("),
    ],
)
def test_several_moves_or_a_position_in_one_line(text: str, at: str, moves: int, message: str, finished: Path) -> None:
    with open_table(finished) as table:
        player = Player(Game(table, NEAR))
        player.obey(text)
        assert not player.has_quit
        game = player.game
        assert (table.puzzle.format(game.position), game.moves_made) == (at, moves)
        assert message in player.message
        assert bool(message) == bool(player.message)


def test_a_move_of_the_name_of_a_key_needs_its_own_case(cli: Command) -> None:
    """On this puzzle B is a move; b takes a move back all the same."""
    cli("run", "ivy", "--quiet")
    shown = cli("play", "ivy", "--moves", "R L", stdin="B\nb\nb\n").out
    heads = re.findall(r"^ivy: .*$", shown, re.MULTILINE)
    assert [", after" in head for head in heads] == [False, True, False, False]
    assert "no move to undo" in shown


@pytest.mark.parametrize(
    ("typed", "same"), [("x R2", "R2"), ("x' F2", "U2"), ("u2", "D2"), ("U2", "U2"), ("y u2 R2", "D2 F2")]
)
def test_wide_turns_and_rotations_of_a_tower(typed: str, same: str, cli: Command, tmp_path: Path) -> None:
    store = tmp_path / "tower.zarr"
    cli("run", "2x2x3", "--only-moves", "U2 D2 R2 F2", "--store", store, "--quiet")
    with open_table(store) as table:
        player = Player(Game(table, table.puzzle.rules.first))
        player.obey(typed)
        assert player.message == ""
        assert player.game.position.tolist() == table.puzzle.follow(same)[-1].tolist()


def test_numbers_are_names_of_pancake_moves(cli: Command) -> None:
    Path("stack.toml").write_text(toml({"name": "stack", "family": "pancake", "n": 5}))
    cli("run", "stack.toml", "--quiet")
    with open_table("outputs/stack.zarr") as table:
        player = Player(Game(table, "2 1 3 4 5"))
        for typed in ("1", "22", "23"):
            player.obey(typed)
            assert player.message.startswith("expected a legal move (2 3 4 5)"), typed
            assert player.game.moves_made == 0
        player.obey("2")
        assert (player.game.moves_made, player.game.distance) == (1, 0)


def test_what_waits_for_enter(finished: Path) -> None:
    with open_table(finished) as table:
        player = Player(Game(table, NEAR))
        assert not any(player.waits_after(typed) for typed in ("1", "4", "L", "l", "b", "q", "x"))


def test_enter_after_a_wrong_name_makes_no_move(finished: Path) -> None:
    with open_table(finished) as table:
        player = Player(Game(table, NEAR))
        typing = Typing(player)
        for key in ("x", "y", "enter"):
            typing.obey([Pressed(key)])
            assert player.game.moves_made == 0
            assert player.message.startswith("expected a legal move")
        typing.obey([Pressed("enter")])
        assert player.game.moves_made == 1, "another Enter asks for the next move"


def test_a_position_is_drawn_where_none_is_given(finished: Path, cli: Command) -> None:
    assert "12 moves from the start" in cli("play", finished, "--depth", 12, stdin="q\n").out


def test_moves_that_cannot_be_undone_are_refused(cli: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    one_way = {"name": "one-way", "family": "jump", "start": "A--", "offsets": [[0, 1]]}
    (tmp_path / "one-way.toml").write_text(toml(one_way))
    cli("run", "one-way.toml", "--quiet")
    assert "has irreversible moves" in refused("play", "one-way", "A--")


def test_letters_stay_with_blocks_on_the_way_to_a_goal(cli: Command) -> None:
    """B moves down first, so C comes before it in reading order; in every command it is C all the same."""
    Path("exit.toml").write_text(
        toml({"name": "exit", "family": "blocks", "start": "ABC/.BC/...", "goal": "??A/???/???"})
    )
    cli("run", "exit.toml", "--quiet")
    lines = ["ABC/.BC/...", "A.C/.BC/.B.", ".AC/.BC/.B.", ".A./.BC/.BC", "..A/.BC/.BC"]
    drawn = [["A", "B", "C"], ["A", "C", "B"], ["A", "C", "B"], ["A", "B", "C"], ["A", "B", "C"]]
    shown = cli("play", "exit", lines[0], stdin="\n\n\n\n\n").out
    assert re.findall(r"\d moves? from the goal", shown) == [
        f"{n} move{'s' * (n > 1)} from the goal" for n in (4, 3, 2, 1)
    ]
    assert shown.endswith("this is the goal\n")
    assert "start" not in shown
    for boards in (shown, cli("play", "exit", lines[0], "--once").out):
        found = [re.findall(r"[A-C]", board) for board in re.findall(r"╭.*?╯$", boards, re.DOTALL | re.MULTILINE)]
        assert found[:5] == drawn
    (answer,) = json.loads(cli("query", "exit", lines[0], "--path", "--json").out)
    assert answer["path"] == lines
    assert answer["moves"] == ["b3-down", "A-right", "c3-down", "A-right"]
    solved = json.loads(cli("solve", "exit.toml", lines[0], "--json", "--method", "bfs").out)
    assert solved["solutions"] == [["ABC/.BC/...", "AB./.BC/..C", "A../.BC/.BC", ".A./.BC/.BC", "..A/.BC/.BC"]]
    path = cli("query", "exit", lines[0], "--path").out
    assert re.findall(r"^│ A │.*$", path, re.MULTILINE) == [
        "│ A │ B │ C │  │ A │   │ C │  │   │ A │ C │  │   │ A │   │  │       │ A │"
    ]


@pytest.mark.slow
def test_keys_of_a_terminal(finished: Path) -> None:
    """Space, b and q answer at once, without Enter; a paste is one command per line; the terminal is left as it was."""
    mine, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    command = [*PROGRAM, "play", str(finished), NEAR]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment, close_fds=True) as running:
        os.close(its)
        shown = read_until(mine, "2 moves from the start")
        os.write(mine, b" ")
        shown += read_until(mine, "1 move from the start")
        os.write(mine, b"b")
        shown += read_until(mine, "2 moves from the start")
        os.write(mine, b"\x1b[3~\x7f")  # a key that means nothing, and backspace
        shown += read_until(mine, "no move to undo")
        os.write(mine, b"\x1b[200~" + FARTHEST.encode())  # a paste that comes in two parts
        os.write(mine, b"\nL D R\x1b[201~")
        shown += read_until(mine, "after 3 moves")
        os.write(mine, f"{NEAR}\nx  \x04".encode())  # a terminal that does not mark pastes
        shown += read_until(mine, "\x1b[?1049l", "solved, after 2 moves")
        assert running.wait(PATIENCE) == 0
    os.close(mine)
    assert shown.count("\x1b[?1049h") == 1


def read_until(terminal: int, *texts: str) -> str:
    """What a program shows until all of the texts appeared, one after another."""
    shown, at = "", 0
    for text in texts:
        while text not in shown[at:]:
            shown += os.read(terminal, 1 << 16).decode(errors="replace")
        at = shown.index(text, at)
    return shown
