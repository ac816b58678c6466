"""A dask.distributed cluster as an executor: its connection, its members, its losses, and what runs on its workers."""
