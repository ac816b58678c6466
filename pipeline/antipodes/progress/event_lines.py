"""The events of a run as lines of text."""

from antipodes.events import (
    Assembling,
    CheckStarted,
    ClusterReady,
    Committed,
    Committing,
    Event,
    JournalDamaged,
    LayerSettled,
    PartitionsCommitted,
    PartitionSearched,
    PartitionSettled,
    PartitionsUnderWay,
    PositionsChecked,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
    Untried,
    Waiting,
    WaitingForWorkers,
    WorkerRefused,
    WorkersLost,
)
from antipodes_tasks.quoting import counted


def describe(event: Event) -> str | None:
    """The event as one line; None for events that only a live line shows."""
    match event:
        case SearchStarted(name, size, depth, states, resumed, assembles=assembles):
            known = f"resumes from depth {depth}, {counted(states, 'position')} known" if resumed else "begins"
            kept = "" if assembles else "; counts only, no table"
            return f"{name}: {known}; {counted(size, 'position')} in all, reachable or not{kept}"
        case ClusterReady(workers, threads, dashboard):
            members = f"{counted(workers, 'worker')} with {counted(threads, 'thread')}"
            return members + (f"; dashboard: {dashboard}" if dashboard else "")
        case WaitingForWorkers(reason):
            return f"{reason}: waiting for some to join"
        case Waiting(what):
            return f"waiting for {what}"
        case Untried(reason):
            return f"cannot tell whether the definition makes the same moves in another process: {reason}"
        case WorkerRefused(reason):
            return f"{reason}: excluded until it can take part"
        case WorkersLost(reason, depth, recomputed):
            committed = "the start" if depth < 0 else f"depth {depth}"
            again = f"{counted(recomputed, 'position')} to recompute" if recomputed else "nothing to recompute"
            return f"lost: {reason}; resuming from {committed}, {again}"
        case LayerSettled(depth, count, states, rate):
            return f"depth {depth}: {counted(count, 'position')}, {states:,} so far, {rate / 1e6:,.1f} million/s"
        case Committed(depth):
            return f"committed up to depth {depth}"
        case JournalDamaged(damage, depth):
            what = "; ".join(damage) or "files of the journal are missing"
            return f"{what}: resuming from {'the start' if depth < 0 else f'depth {depth}'}"
        case TilingSearchStarted(name, partitions, done, tilings):
            known = f"resumes, {done:,} of them searched, {counted(tilings, 'tiling')} known" if done else "begins"
            return f"{name}: {counted(partitions, 'partition')}; {known}"
        case PartitionSearched(done, partitions, tilings, rate):
            tried = f"{rate / 1e6:,.1f} million placements/s"
            return f"partition {done:,} of {partitions:,}: {counted(tilings, 'tiling')} so far, {tried}"
        case PartitionsUnderWay(done, partitions, _, placements, found, tilings, rate):
            so_far = f"{counted(tilings, 'tiling')}, and {found:,} found in partitions under way"
            tried = f"{counted(placements, 'placement')}, {rate / 1e6:,.1f} million/s"
            return f"{done:,} of {partitions:,} partitions searched: {so_far}; {tried}"
        case PartitionsCommitted(done, partitions):
            return f"committed {done:,} of {partitions:,} partitions"
        case Restoring(done, of):
            return f"restoring: {done:,} of {of:,} positions read"
        case Assembling(done, of):
            return f"assembling: {done:,} of {of:,} positions on disk"
        case CheckStarted(name, positions):
            return f"{name}: checks {counted(positions, 'position')}"
        case PositionsChecked(done, of):
            return f"checking: {done:,} of {of:,} positions compared"
        case TablesBuilt() | PartitionSettled() | Committing():
            return None
