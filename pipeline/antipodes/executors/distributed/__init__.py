"""A dask.distributed cluster as an executor.

* `cluster` implements the interface `Scheduler`; `connection` opens clients, asks schedulers, and translates errors.
* `membership` decides which workers get tasks, by their versions and by the events of the scheduler.
* `tasks` submits tasks and waits for results; `health` checks meanwhile that scheduler and workers make progress.
* `worker` is what runs on the workers: around each task, beside the tasks, and on their freed memory.
"""
