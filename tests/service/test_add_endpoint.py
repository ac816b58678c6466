"""A new endpoint: one new module, and a line in the files that the table of `docs/architecture.md` names."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

ENDPOINT = '''
"""The mean distance of the positions of a table."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from antipodes.service.library import Question
from antipodes.system.records import optional


@dataclass(frozen=True)
class MeanDistance:
    """The mean distance of the positions."""

    mean: float
    total: int | None = optional()


def mean_distance(with_total: Annotated[bool, Query()] = False) -> Question[MeanDistance]:
    """Return the mean distance."""

    def answer(opened):
        layers = opened.table.layers
        mean = sum(depth * count for depth, count in enumerate(layers)) / sum(layers)
        return MeanDistance(mean, sum(layers)) if with_total else MeanDistance(mean)

    return answer
'''
CALL = """
import json, sys
from pathlib import Path
from service_stores import client_of
import antipodes
client = client_of(Path(sys.argv[1]))
schemas = client.ask("GET", "/api/v1/openapi.json").json["components"]["schemas"]
path = "/stores/fields/mean-distance"
short, long = client.value(path), client.value(path, {"with_total": "true"})
print(json.dumps([antipodes.__file__, short, long, schemas["MeanDistance"]["required"]]))
"""


@pytest.mark.slow
def test_an_endpoint_is_one_module_and_one_line(stores: Path, tmp_path: Path) -> None:
    copy = tmp_path / "pipeline" / "antipodes"
    shutil.copytree(ROOT / "pipeline" / "antipodes", copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "service" / "mean_distance.py").write_text(ENDPOINT, encoding="utf-8")
    endpoints = copy / "service" / "endpoints.py"
    text = endpoints.read_text(encoding="utf-8")
    for old, new in {
        "from antipodes.service.library": "from antipodes.service.mean_distance import mean_distance\n",
        '    Endpoint("/layers", layers),': '    Endpoint("/mean-distance", mean_distance),\n',
    }.items():
        assert text.count(old) == 1
        text = text.replace(old, new + old)
    endpoints.write_text(text, encoding="utf-8")
    places = [tmp_path / "pipeline", ROOT / "tasks", ROOT / "tests" / "support"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    command = [sys.executable, "-c", CALL, str(stores)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    file, short, long, required = json.loads(done.stdout)
    assert Path(file).parent == copy
    assert short == {"mean": long["mean"]}
    assert (long["total"], required) == (81, ["mean"])
