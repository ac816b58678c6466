"""The commands and the code of clusters.md, run as shown; the manifest for Kubernetes, checked as far as possible."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from distributed.cli.dask_scheduler import main as dask_scheduler
from distributed.cli.dask_worker import main as dask_worker
from documents import blocks
from project import DOCS, ROOT
from stores import contents
from waiting import PATIENCE

from antipodes.cli.loading import INTERRUPTED
from antipodes.cli.streams import BAD_INPUT
from antipodes.config import bundled_configs
from antipodes.storage.address import checked_url

ByThreads = Callable[[str], dict[str, bytes]]
CLUSTERS = (DOCS / "how-to" / "clusters.md").read_text(encoding="utf-8")
KUBERNETES = (DOCS / "how-to" / "kubernetes.md").read_text(encoding="utf-8")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Runs commands in an empty directory; processes that they leave running end with the test."""
    started: list[subprocess.Popen[str]] = []
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

    def run(commands: str) -> str:
        with (tmp_path / "log").open("w") as log:
            started.append(
                subprocess.Popen(
                    ["bash", "-e", "-c", f"({commands}) > out"],
                    cwd=tmp_path,
                    env={**os.environ, "PATH": path},
                    stderr=log,
                    stdin=subprocess.DEVNULL,
                    text=True,
                    start_new_session=True,
                )
            )
        assert started[-1].wait(2 * PATIENCE) == 0, (tmp_path / "log").read_text()
        return (tmp_path / "out").read_text()

    yield run
    for one in started:
        os.killpg(one.pid, signal.SIGKILL)


def test_the_session(
    shell: Callable[[str], str], by_threads: ByThreads, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shell(blocks(CLUSTERS, "sh")[0])
    assert "eight-puzzle: 181,440 positions reached" in out
    assert "3x20: 2 tilings up to the symmetries" in out
    assert out.splitlines()[-1].startswith("ok: 181,440 positions checked, ")
    assert "2 workers with 2 threads; dashboard: http://" in (tmp_path / "log").read_text()
    assert contents(tmp_path / "tables" / "eight-puzzle.zarr") == by_threads("eight-puzzle")
    address = json.loads((tmp_path / "scheduler.json").read_text())["address"]
    (code,) = blocks(CLUSTERS, "python")
    exec(code.replace("tcp://HOST:8786", address).replace("/shared", str(tmp_path)), {})
    assert capsys.readouterr().out == "31 0\n"
    assert contents(tmp_path / "eight-puzzle.zarr") == by_threads("eight-puzzle")


def test_the_examples_are_no_puzzles() -> None:
    assert not {path.stem for path in (ROOT / "configs" / "clusters").iterdir()} & bundled_configs().keys()


def manifests() -> list[dict[str, Any]]:
    text = (ROOT / "configs" / "clusters" / "kubernetes.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load_all(text))


def containers() -> list[dict[str, Any]]:
    """Of the scheduler, the workers, and the job."""
    cluster, job = (one["spec"] for one in manifests())
    pods = [cluster["scheduler"]["spec"], cluster["worker"]["spec"], job["template"]["spec"]]
    return [container for pod in pods for container in pod["containers"]]


def test_kubernetes_runs_commands_that_exist() -> None:
    scheduler, worker, job = (container["args"] for container in containers())
    assert scheduler[:2] == ["dask", "scheduler"]
    dask_scheduler.make_context("scheduler", scheduler[2:])
    assert worker[:2] == ["dask", "worker"]
    options = dask_worker.make_context("worker", worker[2:]).params
    assert (options["nthreads"], options["memory_limit"]) == (4, "15GiB")
    assert job[:3] == ["antipodes", "run", "three-colours"]
    assert "three-colours" in bundled_configs()
    assert checked_url(job[job.index("--store") + 1]).startswith("s3://bucket/")


def test_kubernetes_has_one_environment_and_no_credentials() -> None:
    scheduler, worker, job = containers()
    assert len({container["image"] for container in (scheduler, worker, job)}) == 1
    secret = {"secretRef": {"name": "antipodes-store"}}
    assert worker["envFrom"] == job["envFrom"] == [secret]
    assert not any("env" in container for container in containers())
    assert "kubectl create secret generic antipodes-store " in KUBERNETES


def test_kubernetes_finds_the_scheduler() -> None:
    cluster, job = manifests()
    name = cluster["metadata"]["name"]
    service = cluster["spec"]["scheduler"]["service"]
    assert service["selector"]["dask.org/cluster-name"] == name
    args = job["spec"]["template"]["spec"]["containers"][0]["args"]
    ports = {port["name"]: port["port"] for port in service["ports"]}
    assert args[args.index("--scheduler") + 1] == f"tcp://{name}-scheduler:{ports['tcp-comm']}"
    assert {port["name"] for port in containers()[0]["ports"]} == ports.keys()


def test_kubernetes_knows_the_exit_statuses() -> None:
    rules = manifests()[1]["spec"]["podFailurePolicy"]["rules"]
    values = {rule["action"]: rule["onExitCodes"]["values"] for rule in rules if "onExitCodes" in rule}
    assert values == {"Ignore": [INTERRUPTED], "FailJob": [BAD_INPUT]}
