"""The storage of results: a manifest and zarr arrays, in a directory or under a URL, with one writer at a time.

* `store` is the base of tables and tilings. It uses `manifest_file`, field types in `manifest_fields`, and `arrays`.
* `backend` is the interface to the storage that an `address` names. `directory` and `files` implement it for the file
  system, `objects` and `bucket` for object storage. `retry` retries requests, and `lock` is the base of both locks.
"""
