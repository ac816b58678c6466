"""CPU time of the tests, from the junit file of a run: run this file with that file to write tests/durations.json.

The slowest tests and the sums of the files show where a faster test pays. CPU seconds include child processes, and
depend little on what else the machine does. Apart from the tests stand what the first or last test of a process only
happens to pay for: the compilation of kernels in the process, and fixtures of more than one test. The processes of
browsers are read while they run, because most of their time is lost when they end: each test has its own, and the first
of a process has their start.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from project import ROOT

KINDS = {"cpu": "tests", "compilation": "compilation", "fixtures": "fixtures", "browser": "browsers"}
"""The properties of a test in the junit file, without ``_seconds``, and what they are called."""
PATH = ROOT / "tests" / "durations.json"
MAX_TESTS = 60
"""Number of tests that are listed."""
MIN_SECONDS = 1.0
"""Sum of a file from which on it is listed, in CPU seconds."""


def durations(junit: Path) -> dict[str, object]:
    """Return the number of tests, the CPU seconds of each kind, and the slowest files and tests first."""
    tests, files, kinds = Counter[str](), Counter[str](), Counter[str]()
    for case in ElementTree.parse(junit).iter("testcase"):
        found = {one.attrib["name"]: one.attrib["value"] for one in case.findall("properties/property")}
        seconds = {kind: float(found[f"{kind}_seconds"]) for kind in KINDS if f"{kind}_seconds" in found}
        kinds.update(seconds)
        file = case.attrib["classname"].removeprefix("tests.")
        tests[f"{file}::{case.attrib['name']}"] += seconds.get("cpu", 0)
        files[file] += seconds.get("cpu", 0)
    return {
        "tests": len(tests),
        "cpu_seconds": {KINDS[kind]: round(kinds[kind]) for kind in KINDS},
        "files": {file: round(seconds, 1) for file, seconds in files.most_common() if seconds >= MIN_SECONDS},
        "slowest": {test[:120]: round(seconds, 1) for test, seconds in tests.most_common(MAX_TESTS)},
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(durations(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
