"""The storage of what runs compute: a manifest and zarr arrays, in a directory or under a URL, one writer at a time.

* `store` is what tables and tilings build on. Its parts: the `manifest` with its declared `fields`, and `arrays`.
* `backend` is the interface to the place of the bytes, which an `address` names. A `directory` replaces `files`;
  `objects` are in a `bucket`, whose requests `retry` repeats. `lock` is what the locks of both have in common.
"""
