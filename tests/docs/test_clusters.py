"""The pages on clusters: commands and code as shown, the manifest for Kubernetes, SLURM with substitutes, options."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from clusters import Cluster
from distributed.cli.dask_scheduler import main as dask_scheduler
from distributed.cli.dask_worker import main as dask_worker
from documents import blocks
from program_runs import Run
from project import DOCS, ROOT
from stores import contents, read_manifest
from waiting import PATIENCE, wait_until

from antipodes.cli.loading import INTERRUPTED
from antipodes.cli.streams import BAD_INPUT
from antipodes.executors.distributed.connection import connected, dashboard_of
from antipodes.executors.open_scheduler import as_scheduler
from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.storage.opening import checked_url
from antipodes.tables.run import run_puzzle
from antipodes_tasks.base.errors import InputError, SchedulerError

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


@pytest.mark.slow(seconds=40)
def test_the_session(
    shell: Callable[[str], str], by_threads: ByThreads, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shell(blocks(CLUSTERS, "sh")[0])
    assert "eight-puzzle: reached all 181,440 positions" in out
    assert "3x20: 2 tilings up to the symmetries" in out
    assert out.splitlines()[-2].startswith("ok: checked 181,440 positions ")
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


Begin = Callable[..., Run]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "shown"), [(["--no-dashboard"], False), (["--dashboard", "--dashboard-address", ":0"], True)]
)
def test_the_dashboard_is_shown_if_there_is_one(options: list[str], shown: bool, tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.start_scheduler(*options)
        with connected(cluster.address) as client:
            assert (dashboard_of(client) or "").endswith("/status") == shown


@pytest.mark.slow
def test_the_report_of_dask_is_written(shared: Cluster, begin: Begin, tmp_path: Path) -> None:
    where = ["--scheduler", shared.address]
    begin("run", "knights-coloured", "--performance-report", "report.html", *where, "--json").finish()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Dask Performance Report</title>" in page
    assert "advance" in page


def test_without_bokeh_there_is_no_report(idle: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with (
        connected(idle.address) as client,
        as_scheduler(client) as scheduler,
        pytest.raises(InputError, match=r"needs bokeh: pip install '\.\[dashboard\]'"),
        scheduler.performance_report("report.html"),
    ):
        pass


def test_tls_without_certificates_is_refused() -> None:
    with (
        pytest.raises(SchedulerError, match=r"no dask scheduler answers at tls://.*TLS"),
        connected("tls://127.0.0.1:1"),
    ):
        pass


@pytest.mark.slow
def test_a_scheduler_without_the_program_is_refused(tmp_path: Path, begin: Begin) -> None:
    (tmp_path / "other" / "antipodes").mkdir(parents=True)
    (tmp_path / "other" / "antipodes" / "__init__.py").touch()
    with Cluster(tmp_path, {"PYTHONPATH": str(tmp_path / "other")}) as cluster:
        cluster.start_scheduler()
        run = begin("run", "eight-puzzle", "--scheduler", cluster.address)
        run.fail(1, f"the dask scheduler at {cluster.address} cannot load antipodes: ")


@pytest.mark.slow
def test_a_scheduler_with_another_version_is_refused(tmp_path: Path, begin: Begin) -> None:
    claimed = tmp_path / "other" / "zarr-99.0.dist-info"
    claimed.mkdir(parents=True)
    (claimed / "METADATA").write_text("Metadata-Version: 2.1\nName: zarr\nVersion: 99.0\n", encoding="utf-8")
    with Cluster(tmp_path, {"PYTHONPATH": str(tmp_path / "other")}) as cluster:
        cluster.start_scheduler()
        run = begin("run", "eight-puzzle", "--scheduler", cluster.address)
        run.fail(1, f"the dask scheduler at {cluster.address} has zarr 99.0; expected zarr ", " as here")


EXAMPLES = ROOT / "configs" / "clusters"
PAGE = DOCS / "how-to" / "slurm.md"
STAND_INS = {
    # two tasks, as if there were two nodes; a signal goes to both
    "srun": """
while [ "${1#--}" != "$1" ]; do shift; done
"$@" & one=$!
"$@" & other=$!
trap 'kill $one $other' TERM
wait; wait
""",
    "scontrol": 'echo "$@" >> scontrol.log\n',
    "sbatch": """
cp "$1" "job-$$.sh"
bash "job-$$.sh" > "worker-$$.log" 2>&1 &
echo "$!" >> jobs
echo "Submitted batch job $!"
""",
    "scancel": 'kill "$@"\n',
}


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a SLURM job."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in STAND_INS.items():
        (programs / name).write_text(f"#!/bin/bash\n{text}", encoding="utf-8")
        (programs / name).chmod(0o755)
    found = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    job = {"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "1", "SLURM_MEM_PER_NODE": "2000", "TMPDIR": str(tmp_path)}
    yield {**os.environ, **job, "PATH": found}
    for process in left_in(tmp_path):
        process.kill()


def left_in(folder: Path) -> list[psutil.Process]:
    """The processes that run in a folder."""
    return [one for one in psutil.process_iter(["cwd"]) if one.info["cwd"] == str(folder)]


def start(command: list[object], log: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    with log.open("ab") as file:
        return subprocess.Popen(
            list(map(str, command)), cwd=log.parent, env=environment, stdout=file, stderr=file, start_new_session=True
        )


@pytest.mark.slow(seconds=50)
def test_a_job_that_runs_out_of_time_is_requeued_and_resumes(slurm: dict[str, str], tmp_path: Path) -> None:
    """The puzzle has 512 layers, so that the run is still at it when the signal arrives or a worker joins late.

    The scheduler of a busy machine may be silent for too long. Then, too, the job is requeued.
    """
    log, puzzle = tmp_path / "job.log", tmp_path / "nine.toml"
    puzzle.write_text('[puzzle]\nname = "nine"\nfamily = "hanoi"\ndiscs = 9\n', encoding="utf-8")
    command: list[object] = ["bash", EXAMPLES / "slurm.sh", "nine.toml", "--store", "t.zarr"]
    job = start([*command, "--checkpoint-every", 0], log, slurm)
    wait_until(lambda: "depth 1:" in log.read_text() or job.poll() is not None, "the run has begun")
    job.send_signal(signal.SIGTERM)
    assert job.wait(PATIENCE) == 75, log.read_text()
    assert (tmp_path / "scontrol.log").read_text() == "requeue 7\n"
    manifest = read_manifest(tmp_path / "t.zarr" / "commit.json")
    committed = manifest["committed_depth"]
    assert not manifest["complete"]
    while (status := start(command, log, slurm).wait(PATIENCE)) == 75:
        assert "the dask scheduler has not answered" in log.read_text()
    assert status == 0, log.read_text()
    assert f"nine: resumes from depth {committed}," in log.read_text()
    assert "2 workers with 2 threads" in log.read_text()
    run_puzzle(load_config(str(puzzle)), tmp_path / "threads.zarr")
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "threads.zarr")
    assert {*(tmp_path / "scontrol.log").read_text().splitlines()} == {"requeue 7"}


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["scheduler", "worker", "antipodes"])
def test_a_job_that_is_told_to_stop_before_its_run_begins_is_requeued(
    moment: str, slurm: dict[str, str], tmp_path: Path
) -> None:
    """By a stand-in that sends the signal when the script starts it; the run itself then ends before it loads."""
    stand_in = {
        "scheduler": ("dask", '[ "$1" = worker ] || kill -TERM "$PPID"\nexec sleep 60\n'),  # a worker may be an orphan
        "worker": ("srun", 'kill -TERM "$PPID"\nexec sleep 60\n'),
        "antipodes": ("antipodes", 'kill -TERM "$PPID"\nexec sleep 60\n'),
    }
    name, text = stand_in[moment]
    (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{text}", encoding="utf-8")
    (tmp_path / "bin" / name).chmod(0o755)
    log = tmp_path / "job.log"
    job = start(["bash", EXAMPLES / "slurm.sh", "eight-puzzle", "--store", "t.zarr"], log, slurm)
    assert job.wait(PATIENCE) == 75, log.read_text()
    assert (tmp_path / "scontrol.log").read_text() == "requeue 7\n"
    assert not (tmp_path / "t.zarr").exists()


@pytest.mark.parametrize(("restarts", "requeued"), [("", True), ("19", True), ("20", False)])
def test_a_job_is_not_requeued_forever(restarts: str, requeued: bool, slurm: dict[str, str], tmp_path: Path) -> None:
    """The stand-in for the program commits nothing."""
    programs = {"dask": '[ "$1" = worker ] || echo {} > "$3"\nexec sleep 60\n', "antipodes": "exit 75\n"}
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{text}", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    counted = {"SLURM_RESTART_COUNT": restarts} if restarts else {}
    log = tmp_path / "job.log"
    job = start(["bash", EXAMPLES / "slurm.sh", "eight-puzzle"], log, {**slurm, **counted})
    assert job.wait(PATIENCE) == 75, log.read_text()
    assert (tmp_path / "scontrol.log").exists() == requeued
    assert ("restarted 20 times" in log.read_text()) != requeued


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["no-such-puzzle", "--store", "t.zarr"], 2, "antipodes: expected the name of a puzzle"),
        (["eight-puzzle", "--store", "file/t.zarr"], 1, "antipodes: cannot "),
    ],
)
def test_the_statuses_of_jobs_of_their_own(
    arguments: list[str], status: int, text: str, slurm: dict[str, str], tmp_path: Path
) -> None:
    """No worker has to come for these: the stand-in for sbatch starts none."""
    (tmp_path / "bin" / "sbatch").write_text("#!/bin/bash\necho Submitted batch job 1\n", encoding="utf-8")
    (tmp_path / "bin" / "scancel").write_text("#!/bin/bash\n", encoding="utf-8")
    (tmp_path / "file").touch()
    environment = {**slurm, "DASK_CONFIG": str(EXAMPLES / "slurm.yaml")}
    command = [sys.executable, EXAMPLES / "slurm.py", *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_job_of_its_own_that_is_told_to_stop(slurm: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin" / "sbatch").write_text("#!/bin/bash\necho Submitted batch job 1\n", encoding="utf-8")
    (tmp_path / "bin" / "scancel").write_text("#!/bin/bash\n", encoding="utf-8")
    log = tmp_path / "run.log"
    command = [sys.executable, EXAMPLES / "slurm.py", "eight-puzzle", "--store", "t.zarr"]
    run = start([*command], log, {**slurm, "DASK_CONFIG": str(EXAMPLES / "slurm.yaml")})
    wait_until(
        lambda: "waiting for workers to join" in log.read_text() or run.poll() is not None, "it waits for workers"
    )
    run.send_signal(signal.SIGTERM)
    assert run.wait(PATIENCE) == 75, log.read_text()
    assert "interrupted before any worker joined" in log.read_text()


@pytest.mark.slow
def test_a_job_with_bad_input_is_not_requeued(slurm: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    job = start(["bash", EXAMPLES / "slurm.sh", "no-such-puzzle"], log, slurm)
    assert job.wait(PATIENCE) == 2
    assert not (tmp_path / "scontrol.log").exists()


@pytest.mark.slow
def test_the_job_script_is_the_one_of_the_page(slurm: dict[str, str], tmp_path: Path) -> None:
    """Except for the address of the scheduler, which differs each time."""
    command = [sys.executable, EXAMPLES / "slurm.py", "three-colours", "--store", "t.zarr", "--job-script"]
    environment = {**slurm, "DASK_CONFIG": str(EXAMPLES / "slurm.yaml")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    text = PAGE.read_text(encoding="utf-8")
    shown = text[text.index("#!/usr/bin/env bash") :].partition("```")[0]
    assert "tcp://10.0.0.1:45123" in shown
    assert without_address(shown.replace("\\\n", " ")) == without_address(done.stdout)


def without_address(script: str) -> list[str]:
    """The words of a script except the address of the scheduler."""
    return [word for word in script.split() if not word.startswith("tcp://")]


@pytest.mark.slow
def test_workers_in_jobs_of_their_own(slurm: dict[str, str], by_threads: ByThreads, tmp_path: Path) -> None:
    settings = yaml.safe_load((EXAMPLES / "slurm.yaml").read_text(encoding="utf-8"))
    small = {"python": sys.executable, "cores": 1, "memory": "2 GiB", "local-directory": str(tmp_path)}
    settings["jobqueue"]["slurm"].update(small)
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    environment = {**slurm, "DASK_CONFIG": str(tmp_path / "small.yaml")}
    log = tmp_path / "run.log"
    command = [sys.executable, EXAMPLES / "slurm.py", "eight-puzzle", "--store", "t.zarr", "--jobs", 2]
    run = start([*command], log, environment)
    assert run.wait(2 * PATIENCE) == 0, log.read_text()
    assert "32 layers, 181,440 positions" in log.read_text()
    assert contents(tmp_path / "t.zarr") == by_threads("eight-puzzle")
    assert len((tmp_path / "jobs").read_text().split()) >= 2
    wait_until(lambda: not left_in(tmp_path), "the processes of the jobs have ended")
