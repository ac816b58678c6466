"""Executors, which run tasks in threads of this process or on the workers of a cluster.

* `api`: the interface `Scheduler`, which all other packages use, and its vocabulary: calls, keys and handles.
* `open_scheduler`: opens the scheduler for a name, an address, a file or a client, and checks names.
* `threads`: the implementation in this process.
* `distributed`: the implementation on dask.distributed, which is only imported when a run needs a cluster.
"""
