"""CPU time of the tests, from the junit file of a run: run this file with that file to write tests/durations.json.

The slowest tests and the sums of the files show where a faster test pays. CPU seconds include fixtures, compilation and
child processes, and depend little on what else the machine does. The first test of a process that uses a session's
fixture pays for it, and the last test with a browser for the browser.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from project import ROOT

PATH = ROOT / "tests" / "durations.json"
MAX_TESTS = 60
"""Number of tests that are listed."""
MIN_SECONDS = 1.0
"""Sum of a file from which on it is listed, in CPU seconds."""


def durations(junit: Path) -> dict[str, object]:
    """Return the number of tests, the sum of their CPU seconds, and the slowest files and tests first."""
    tests, files = Counter[str](), Counter[str]()
    for case in ElementTree.parse(junit).iter("testcase"):
        found = case.find("properties/property[@name='cpu_seconds']")
        if found is not None:
            seconds, file = float(found.attrib["value"]), case.attrib["classname"].removeprefix("tests.")
            tests[f"{file}::{case.attrib['name']}"] += seconds
            files[file] += seconds
    return {
        "tests": len(tests),
        "cpu_seconds": round(tests.total()),
        "files": {file: round(seconds, 1) for file, seconds in files.most_common() if seconds >= MIN_SECONDS},
        "slowest": {test[:120]: round(seconds, 1) for test, seconds in tests.most_common(MAX_TESTS)},
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(durations(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
