"""Executors run tasks, whatever the tasks compute: in threads of this process, or on the workers of a cluster.

* `api`: the interface `Scheduler`, which all other rooms use, and what they say in it: calls, keys, handles.
* `opening`: the scheduler for a name, an address, a file or a client; `address` checks names.
* `threads`: the implementation in this process.
* `distributed`: the implementation on dask.distributed; loaded only when a run asks for a cluster.
"""
