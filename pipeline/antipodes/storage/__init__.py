"""The storage of what runs compute: a manifest and zarr arrays, in a directory or under a URL, one writer at a time.

* `store` is what tables and tilings build on. Its parts: the `manifest` with its declared `fields`, `arrays` of a
  `layout`, and the `creation` of a new store.
* `backend` is the interface to the place of the bytes, which an `address` names. `local` keeps them in directories,
  `cloud` in buckets; `lock_owner` is what their locks have in common.
"""
