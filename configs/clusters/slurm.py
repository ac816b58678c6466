"""Run a puzzle on workers that are SLURM jobs of their own, started through dask-jobqueue.

DASK_CONFIG=slurm.yaml python slurm.py three-colours --store /shared/three-colours.zarr --jobs 4

It runs as long as the run does: in a small job of its own, or in tmux if that is allowed. Its exit statuses are those
of `antipodes run`: after 75 the same command resumes.
"""

import argparse
import signal
import sys
import threading

from dask_jobqueue import SLURMCluster
from distributed import Client

from antipodes.config import load_config
from antipodes.progress.show import show_progress
from antipodes.storage.address import address_from
from antipodes.tables.run import run_puzzle
from antipodes_tasks.errors import AntipodesError, InterruptedRunError


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("puzzle")
    parser.add_argument("--store", required=True, help="a path that all nodes see, or a URL")
    parser.add_argument("--jobs", type=int, default=1, help="how many jobs with workers")
    parser.add_argument("--job-script", action="store_true", help="print the script of these jobs, and run nothing")
    options = parser.parse_args()
    with SLURMCluster() as cluster:
        if options.job_script:
            print(cluster.job_script())
            return 0
        cluster.adapt(minimum_jobs=options.jobs, maximum_jobs=options.jobs)  # replaces jobs that end
        with Client(cluster) as client:
            return run(options.puzzle, options.store, client)


def run(puzzle: str, store: str, client: Client) -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        with show_progress(quiet=False) as listener:
            report = run_puzzle(
                load_config(puzzle), address_from(store), listener=listener, interrupted=stop.is_set, scheduler=client
            )
    except AntipodesError as error:
        print(error, file=sys.stderr)
        return 75 if isinstance(error, InterruptedRunError) else 1
    print(f"{len(report.manifest.layers)} layers, {report.manifest.states:,} positions in {report.store}")
    return 0 if report.complete else 75


if __name__ == "__main__":
    sys.exit(main())
