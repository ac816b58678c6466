"""The program: signals, its environment, its help, and the commands that it tells."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest
from forks import PROGRAM
from programs import Command
from stores import toml
from tiling_stores import SQUARE, board_file
from waiting import PATIENCE

from antipodes.cli import program
from antipodes.cli.failures import Stopped, pass_on_interruption
from antipodes.cli.main import COMMANDS as SECTIONS
from antipodes.cli.main import Commands, load_command, remove_settings
from antipodes.cli.running import Interrupts
from antipodes.puzzles.config import Config
from antipodes.tables.run import RunOptions, run_puzzle

AT_AN_IMPORT = """
import os, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Interrupting())
"""
AT_THE_END = "import atexit, os; atexit.register(os.kill, os.getpid(), {number})\n"
IN_A_COMMAND = AT_AN_IMPORT.replace("{module}", "antipodes.tilings.board_config")
AT_AN_IMPORT = AT_AN_IMPORT.replace("{module}", "typer")
MAIN = "from antipodes.cli.program import main; main()"


STOPPED = re.compile(r"antipodes: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d stopped\n")
"""The message in a log, which has the time."""


def ended(code: str, number: signal.Signals) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code.format(number=int(number)) + MAIN, "boards"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_unix_one_line_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "UNIX", ("fcntl", "no_such_module"))
    with pytest.raises(SystemExit, match=r"antipodes: this program needs Linux or another Unix; .* WSL"):
        program.main()


@pytest.mark.slow
@pytest.mark.parametrize(("code", "number"), [(AT_AN_IMPORT, signal.SIGTERM), (IN_A_COMMAND, signal.SIGINT)])
def test_an_interruption_while_the_command_line_or_a_command_loads(code: str, number: signal.Signals) -> None:
    process = ended(code, number)
    assert (process.returncode, process.stdout) == (75, "")
    assert STOPPED.fullmatch(process.stderr)


IN_A_FINALISER = """
import signal, threading, time
from antipodes.cli.failures import status_of, stop_waits_at_signals
from antipodes.cli.streams import claim_streams

class CompiledModule:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def command():
    CompiledModule()
    time.sleep(60)

claim_streams()
signal.signal(signal.SIGINT, signal.default_int_handler)
stop_waits_at_signals()
raise SystemExit(status_of(command))
"""
SLOW_TO_START = """
start = threading.Thread.start

def slow(thread):
    start(thread)
    for _ in range(20):
        time.sleep(0.01)

threading.Thread.start = slow
"""
"""On a busy machine, the repeated signal may arrive before the hook that requested it has returned."""


@pytest.mark.parametrize("machine", ["", SLOW_TO_START])
def test_an_interruption_in_a_finaliser(machine: str) -> None:
    """Python prints what a finaliser raises, with a traceback, and goes on; that of compiled code runs often."""
    command = [sys.executable, "-c", IN_A_FINALISER.replace("claim_streams()\n", f"{machine}claim_streams()\n")]
    process = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (process.returncode, process.stdout) == (75, "")
    assert STOPPED.fullmatch(process.stderr)


@pytest.mark.slow
def test_an_ignored_signal_stays_ignored() -> None:
    code = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{AT_AN_IMPORT}"
    process = ended(code, signal.SIGINT)
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.slow
def test_an_interruption_after_the_command() -> None:
    process = ended(AT_THE_END, signal.SIGINT)
    assert process.stdout
    assert (process.returncode, process.stderr) == (-signal.SIGINT, "")


def test_an_interruption_while_the_arguments_are_read(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Commands, "make_context", interrupted)
    outcome = cli("boards")
    assert (outcome.status, outcome.out, outcome.err) == (75, "", "antipodes: stopped\n")


@pytest.mark.slow
def test_the_program_of_a_python() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "antipodes", "--version"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"antipodes \d+\.\d+\.\d+\S*\n", process.stdout)


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


def test_a_stop_in_a_finaliser_is_not_lost(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Python prints what the callback of a weak reference raises, and goes on."""
    monkeypatch.setattr("sys.unraisablehook", pass_on_interruption)
    node = Node()
    reference = weakref.ref(node, lambda _: signal.raise_signal(signal.SIGTERM))
    with Interrupts():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Stopped):  # noqa: PT012  (it comes a moment later)
            del node
            assert reference() is None
            for _ in range(100 * int(PATIENCE)):
                time.sleep(0.01)  # a signal that comes just before a sleep is noticed after it
    assert "Traceback" not in capsys.readouterr().err


HARMFUL = {
    "NUMBA_DISABLE_JIT": "1",
    "NUMBA_NUM_THREADS": "0",
    "ZARR_ARRAY__WRITE_EMPTY_CHUNKS": "true",
    "ZARR_ASYNC__CONCURRENCY": "x",
    "ZARR_DEFAULT_ZARR_FORMAT": "2",
    "ZARR_THREADING__MAX_WORKERS": "-1",
}


def test_only_harmful_settings_of_libraries_are_removed() -> None:
    kept = {"ZARR_ASYNC__CONCURRENCY": "64", "NUMBA_NUM_THREADS": "4", "NUMBA_CACHE_DIR": "/tmp", "DASK_X": "?"}
    environment = {**HARMFUL, **kept}
    remove_settings(environment)
    assert environment == kept


@pytest.mark.slow
def test_a_run_among_harmful_settings(tmp_path: Path) -> None:
    command = [*PROGRAM, "run", "knights-coloured", "--quiet", "--store", str(tmp_path / "t.zarr")]
    ended = subprocess.run(command, env={**os.environ, **HARMFUL}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


HELP = {name: text for commands in SECTIONS.values() for name, (_, text) in commands.items()}
COMMANDS = sorted(HELP)


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str, cli: Command) -> None:
    outcome = cli(command, "-h")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == cli(command, "--help").out
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert not re.search(r"<\w+>|x>=|\[required\]|[{}]STORE", outcome.out), "notation of the library"


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_come_before_the_options_and_can_be_parsed(command: str, cli: Command) -> None:
    before, _, _ = cli(command, "--help").out.partition("\nOptions:\n")
    before = before.partition("\nArguments:\n")[0]
    examples = re.findall(r"^  (antipodes .*)$", before, re.MULTILINE)
    assert 2 <= len(examples) <= 4
    for example in examples:
        program, name, *words = shlex.split(re.split(" [<>] ", example)[0])
        assert (program, name) == ("antipodes", command)
        load_command(name).make_context(name, words)


def test_the_overview(cli: Command) -> None:
    out = cli("--help").out
    assert out == cli("-h").out == cli().out
    assert "..." not in out.replace("[ARGS]...", "")
    assert max(map(len, out.splitlines())) <= 80
    for command in COMMANDS:
        assert re.search(rf"^  {command} +[A-Z]", out, re.MULTILINE)
        assert load_command(command).help == HELP[command]


def test_the_version(cli: Command) -> None:
    outcome = cli("--version")
    assert outcome.status == 0
    assert re.fullmatch(r"antipodes \d+\.\d+\.\d+\S*\n", outcome.out)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistyped_option_is_refused_with_the_right_one(command: str, cli: Command) -> None:
    outcome = cli(command, "--hepl")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == f"antipodes: {command} has no option --hepl; did you mean --help?\n"


PUZZLE = {"name": "tiny", "family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"}
NAMES = ["a b's $x é.zarr", "-x.zarr"]


def suggested(output: str, beginning: str) -> list[str]:
    """The arguments of the command after these words."""
    line = next(line for line in output.splitlines() if beginning in line)
    program, *arguments = shlex.split(line.partition(beginning)[2])
    assert program == "antipodes"
    return arguments


@pytest.mark.parametrize("name", NAMES)
def test_after_a_run(name: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(toml(PUZZLE))
    outcome = cli("run", "tiny.toml", f"--store={name}", "--quiet")
    assert cli(*suggested(outcome.out, "query   ")).status == 0


@pytest.mark.parametrize("name", NAMES)
def test_after_a_search_for_tilings(name: str, cli: Command, tmp_path: Path) -> None:
    outcome = cli("tile", board_file(SQUARE, tmp_path / "b.toml"), f"--store={name}", "--quiet")
    assert cli(*suggested(outcome.out, "show     ")).status == 0


@pytest.mark.parametrize("name", NAMES)
def test_of_an_unfinished_table(name: str, cli: Command, tmp_path: Path) -> None:
    path = f"./{name}"
    for command in (["status", path], ["layers", path], ["query", path, "3 1 2 0"], ["farthest", path]):
        asked = iter(range(100))
        options = RunOptions(workers=1, overwrite=(tmp_path / name).exists())
        run_puzzle(Config(PUZZLE), tmp_path / name, options, interrupted=lambda it=asked: next(it) >= 1)
        outcome = cli(*command)
        printed = (outcome.out + outcome.err).replace("ends: ", "resume with: ").replace("known: ", "resume with: ")
        arguments = suggested(printed.replace("with: ", "with "), "resume with")
        assert cli(*arguments, "--quiet").status == 0
        assert "finished" in cli("status", path).out


def test_a_link_to_itself(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    outcome = cli("run", "eight-puzzle", "--store", "loop")
    assert (outcome.status, len(outcome.err.splitlines())) == (2, 1)
    assert "a link to itself" in outcome.err
