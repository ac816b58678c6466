#!/usr/bin/env bash
#SBATCH --job-name=antipodes
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=antipodes-%j.log

# A whole run in one job: the scheduler and the program on the first node, and a worker on each node.
#
#     sbatch slurm.sh three-colours --store /shared/three-colours.zarr
#
# The arguments are the same as for `antipodes run`. Add your partition, account and environment, and submit the script
# from a directory that all nodes can access. SLURM sends TERM to this script 120 seconds before the job's time limit.
# The run then commits and ends with status 75, and the script requeues the job, which resumes the run. The script also
# requeues the job if the scheduler is lost. Any other status ends the job.
set -u

# A run that never commits anything, for example because a layer takes longer than the job, would be requeued forever.
max_restarts=20

# The trap comes first, because SLURM may send the signal at any moment. A signal before the run requeues the job.
signalled='' told='' run=''
stop() {
    signalled=yes
    if [ "$run" ]; then
        told=yes
        kill -TERM "$run"
    fi
}
trap stop TERM

scheduler_file="$PWD/scheduler-$SLURM_JOB_ID.json"
rm -f "$scheduler_file"

dask scheduler --scheduler-file "$scheduler_file" --port 0 --dashboard-address :0 &
scheduler=$!
# srun does not inherit --cpus-per-task from sbatch; the first node also needs memory for the scheduler and the program
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --kill-on-bad-exit=0 \
    dask worker --scheduler-file "$scheduler_file" --nthreads "$SLURM_CPUS_PER_TASK" \
    --memory-limit "$((SLURM_MEM_PER_NODE * 8 / 10))MiB" --local-directory "${TMPDIR:-/tmp}" --death-timeout 60 &
workers=$!
until [ -s "$scheduler_file" ] || [ "$signalled" ] || ! kill -0 "$scheduler"; do sleep 0.2; done

status=75
if [ -z "$signalled" ]; then
    antipodes run "$@" --scheduler-file "$scheduler_file" &
    run=$!
    if [ "$signalled" ] && [ -z "$told" ]; then
        stop # the signal came between the two lines above
    fi
    again=yes
    while [ "$again" ]; do # a signal ends `wait`, but not the run
        signalled=''
        wait "$run"
        status=$?
        again=$signalled
    done
    if [ "$told" ] && [ "$status" = 143 ]; then
        status=75 # the signal ended the program before it had begun to load
    fi
fi

rm -f "$scheduler_file"
kill "$workers" "$scheduler" # SLURM ends their remaining processes with this script
if [ "$status" = 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -ge "$max_restarts" ]; then
    echo "slurm.sh: restarted $max_restarts times; if the run makes progress, submit the job again" >&2
elif [ "$status" = 75 ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
