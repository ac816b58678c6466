"""A dask.distributed cluster as an executor.

* `cluster` implements the interface `Scheduler`. `connection` opens clients, queries schedulers, and translates errors.
* `membership` decides which workers get tasks, by their versions and by the events of the scheduler.
* `tasks` submits tasks and waits for results. Meanwhile `health` checks that scheduler and workers make progress.
* `worker` contains the functions that run on workers: around each task, alongside tasks, and for freed memory.
"""
