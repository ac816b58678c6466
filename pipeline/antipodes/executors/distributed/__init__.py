"""A dask.distributed cluster as an executor: `cluster.Cluster` implements the interface `Scheduler` with these parts.

In the process of the run:

* `connection` opens clients, and translates dask's errors; `local` starts a cluster on this machine;
  `scheduler_file` reads the address of a scheduler; `requests` asks it; `announce` tells a listener of long waits.
* `membership` decides which workers get tasks: `versions` compares what they run, `watch` notices those that join,
  leave or pause by the events that `subscriptions` listens to, and `warm_up` makes them ready.
* `tasks` submits tasks, and waits for results: `heartbeat` checks that scheduler and workers answer, `progress` that
  workers run their tasks and send results, `paused` that they have memory left. `task_queue` keeps a few independent
  tasks under way.
* `performance_page` writes dask's own report.

On the workers: `worker` wraps each task, and `allocator` keeps freed memory between tasks.
"""
