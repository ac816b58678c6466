"""The storage of what runs compute: a manifest and zarr arrays, in a directory or under a URL, one writer at a time."""
