"""Measure how many random changes of the program its tests find, in a clone of its own, which is changed meanwhile.

``record`` runs all tests once and notes which of them execute the changed statements; ``run`` then makes one change at
a time and runs these tests, the fast ones first, until one fails. ``run`` continues where it stopped.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workshop.mutations.mutants import Mutant, choose

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "mutations"
RECORDER = ROOT / "tasks" / "antipodes_tasks" / "recorder_of_mutants.py"
MAX_SECONDS = 300
"""Seconds after which the tests of a mutant are stopped; it is then neither found nor missed."""
RECORD = '''"""Written by workshop.mutations; deleted when it ends."""
import os
seen = set()
def executed(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if (number, test) not in seen:
        seen.add((number, test))
        with open({path!r}, "a") as file:
            file.write(f"{{number}}\\t{{test}}\\n")
'''


def main() -> None:
    """Read the arguments and do what they say."""
    parser = argparse.ArgumentParser(prog="python -m workshop.mutations", description=__doc__)
    parser.add_argument("what", choices=["list", "record", "run"])
    parser.add_argument("--number", type=int, default=60, help="number of changes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60, help="begin no further change after this time")
    parser.add_argument("--processes", default="2", help="test processes")
    chosen = parser.parse_args()
    mutants = choose(ROOT, chosen.number, chosen.seed)
    if chosen.what == "list":
        print(*(f"{number:3} {mutant}" for number, mutant in enumerate(mutants)), sep="\n")
        return
    if _output("git", "status", "--porcelain", "--untracked-files=no"):
        sys.exit("expected a clone without changes: the files of the program are changed and written back")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if chosen.what == "record":
        record(mutants, chosen.processes)
    else:
        run(mutants, chosen.processes, time.monotonic() + 60 * chosen.minutes)


def record(mutants: list[Mutant], processes: str) -> None:
    """Run all tests with a call before each statement that is changed, and write which tests execute it."""
    lines: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, mutant in enumerate(mutants):
        if not mutant.is_kernel:
            lines[mutant.file].append((mutant.line, number))
    executed = FOLDER / "executed.txt"
    executed.unlink(missing_ok=True)
    sources = {ROOT / file: with_calls((ROOT / file).read_text(encoding="utf-8"), of) for file, of in lines.items()}
    with _written({file: text.encode() for file, text in sources.items()}):
        RECORDER.write_text(RECORD.format(path=str(executed)), encoding="utf-8")
        try:
            for marked in ("not slow", "slow"):
                _pytest("-n", processes, "--dist", "worksteal", "-m", marked)
        finally:
            RECORDER.unlink()


def with_calls(source: str, places: list[tuple[int, int]]) -> str:
    """Return source with a call before each of these lines, which tells the number beside it."""
    lines = source.split("\n")
    for line, number in sorted(places, reverse=True):
        indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
        lines.insert(line - 1, f"{indent}from antipodes_tasks.recorder_of_mutants import executed; executed({number})")
    return "\n".join(lines)


def run(mutants: list[Mutant], processes: str, end: float) -> None:
    """Make one change at a time, run the tests that execute it, and write and print what they find."""
    path = FOLDER / "results.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    results["commit"] = _output("git", "rev-parse", "HEAD")
    tests = _tests(mutants)
    for number, mutant in enumerate(mutants):
        if str(mutant) in results or time.monotonic() > end:
            continue
        began = time.monotonic()
        file = ROOT / mutant.file
        with _written({file: mutant.apply(file.read_bytes())}):
            found = _find(tests[number], processes)
        results[str(mutant)] = {**found, "tests": len(tests[number]), "seconds": round(time.monotonic() - began)}
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(number, mutant, found, flush=True)
    of_all = [result for name, result in results.items() if name != "commit"]
    for kind in ("not slow", "slow", "nothing", "too long"):
        print(f"found by {kind}: {sum(result['found_by'] == kind for result in of_all)} of {len(of_all)}")


def _tests(mutants: list[Mutant]) -> list[list[str]]:
    """Return the tests of each mutant, those of its package first; all tests of a file if a fixture executes it."""
    tests: list[dict[str, None]] = [{} for _ in mutants]
    for line in sorted(set((FOLDER / "executed.txt").read_text(encoding="utf-8").splitlines())):
        number, _, name = line.partition("\t")
        test, _, phase = name.rpartition(" ")
        if test:
            tests[int(number)][test if phase == "(call)" else test.partition("::")[0]] = None
    for mutant, names in zip(mutants, tests, strict=True):
        if mutant.is_kernel:
            names[f"tests/{mutant.package}"] = None
    return [
        sorted(names, key=lambda name: not name.startswith(f"tests/{mutant.package}/"))
        for mutant, names in zip(mutants, tests, strict=True)
    ]


def _find(tests: list[str], processes: str) -> dict[str, str]:
    (FOLDER / "tests.txt").write_text("\n".join(tests), encoding="utf-8")
    several = ["-n", processes] if len(tests) > 20 or not all("::" in test for test in tests) else []
    for marked in ("not slow", "slow") if tests else ():
        try:
            status, output = _pytest("-x", "-m", marked, *several, f"@{FOLDER / 'tests.txt'}", seconds=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            return {"found_by": "too long"}
        *lines, last = output.splitlines() or [""]
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        # Status 5: no test is marked so. If the changed program ends pytest, even with status 0, it prints no time.
        if status not in (0, 5) or " in " not in last:
            return {"found_by": marked, "test": [*failed, last][0][:200]}
    return {"found_by": "nothing"}


def _pytest(*arguments: str, seconds: float | None = None) -> tuple[int, str]:
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            raise
    return process.returncode, output


@contextmanager
def _written(files: dict[Path, bytes]) -> Iterator[None]:
    """Return a context in which files have other contents."""
    before = {file: file.read_bytes() for file in files}
    try:
        for file, contents in files.items():
            file.write_bytes(contents)
        yield
    finally:
        for file, contents in before.items():
            file.write_bytes(contents)


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
