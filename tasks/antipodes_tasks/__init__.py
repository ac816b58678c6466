"""The computations of a worker: arrays in, arrays out; no files, no dask, no terminal. Users import `antipodes`."""
