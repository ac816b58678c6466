"""The computations of a worker: arrays in, arrays out; no dask, no terminal. Users import `antipodes`."""
