"""The examples for SLURM, run with substitutes for SLURM's programs."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import yaml
from project import DOCS, ROOT
from stores import contents, read_manifest
from waiting import PATIENCE, wait_until

ByThreads = Callable[[str], dict[str, bytes]]
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


@pytest.mark.slow
def test_a_job_that_runs_out_of_time_is_requeued_and_resumes(
    slurm: dict[str, str], by_threads: ByThreads, tmp_path: Path
) -> None:
    log = tmp_path / "job.log"
    command: list[object] = ["bash", EXAMPLES / "slurm.sh", "eight-puzzle", "--store", "t.zarr"]
    job = start([*command, "--checkpoint-every", 0], log, slurm)
    wait_until(lambda: "depth 1:" in log.read_text() or job.poll() is not None, "the run has begun")
    job.send_signal(signal.SIGTERM)
    assert job.wait(PATIENCE) == 75, log.read_text()
    assert (tmp_path / "scontrol.log").read_text() == "requeue 7\n"
    manifest = read_manifest(tmp_path / "t.zarr" / "commit.json")
    committed = manifest["committed_depth"]
    assert committed >= 1
    assert not manifest["complete"]
    again = start(command, log, slurm)
    assert again.wait(PATIENCE) == 0, log.read_text()
    assert f"eight-puzzle: resumes from depth {committed}," in log.read_text()
    assert "2 workers with 2 threads" in log.read_text()
    assert contents(tmp_path / "t.zarr") == by_threads("eight-puzzle")
    assert (tmp_path / "scontrol.log").read_text() == "requeue 7\n"


def test_a_job_with_bad_input_is_not_requeued(slurm: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    job = start(["bash", EXAMPLES / "slurm.sh", "no-such-puzzle"], log, slurm)
    assert job.wait(PATIENCE) == 2
    assert not (tmp_path / "scontrol.log").exists()


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
