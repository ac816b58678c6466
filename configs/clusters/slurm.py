"""Run a puzzle on workers that are separate SLURM jobs, started by dask-jobqueue.

DASK_CONFIG=slurm.yaml python slurm.py three-colours --store /shared/three-colours.zarr --jobs 4

The script has to live as long as the run, so start it in a separate small job, or in tmux if that is allowed. Its exit
statuses are the same as for `antipodes run`: after 75, the same command resumes the run.
"""

import argparse
import sys

from antipodes.cli.loading import INTERRUPTED, importing_libraries

with importing_libraries():
    from dask_jobqueue import SLURMCluster
    from distributed import Client

    from antipodes.cli.failures import status_of
    from antipodes.cli.running import Interrupts
    from antipodes.cli.streams import complain
    from antipodes.progress.show import show_progress
    from antipodes.puzzles.config import load_config
    from antipodes.system.addresses import address_from
    from antipodes.system.options import RunOptions, command_words
    from antipodes.tables.run import run_puzzle


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("puzzle")
    parser.add_argument("--store", required=True, help="a path that all nodes can access, or a URL")
    parser.add_argument("--jobs", type=int, default=1, help="number of worker jobs")
    parser.add_argument("--job-script", action="store_true", help="only print the script of these jobs")
    options = parser.parse_args()
    with Interrupts() as interrupts, SLURMCluster() as cluster:
        if options.job_script:
            print(cluster.job_script())
            return 0
        cluster.adapt(minimum_jobs=options.jobs, maximum_jobs=options.jobs)  # replaces jobs that end
        with Client(cluster) as client:
            return run(options.puzzle, options.store, client, interrupts)


def run(puzzle: str, store: str, client: Client, interrupts: Interrupts) -> int:
    config, address = load_config(puzzle), address_from(store)
    with show_progress(quiet=False) as listener:
        started = RunOptions(started_by=command_words("run", puzzle))  # messages name commands, not calls in Python
        report = run_puzzle(config, address, started, listener, interrupts.requested, client)
    if not report.complete:
        return complain(f"interrupted: {report.saved} kept in {report.store}; the same command resumes", INTERRUPTED)
    print(f"{len(report.manifest.layers)} layers, {report.manifest.states:,} positions in {report.store}")
    return 0


if __name__ == "__main__":
    sys.exit(status_of(main))
