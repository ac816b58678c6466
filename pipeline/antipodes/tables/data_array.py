"""The depths of a table as a DataArray of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from antipodes_tasks.base.errors import imported

if TYPE_CHECKING:
    import xarray
    import zarr

    from antipodes_tasks.move_tables import Indices


def as_data_array(array: zarr.Array[Any], weights: Indices | None, **attributes: object) -> xarray.DataArray:
    """Return the depths ``(rows, width)`` in one dimension, as float32; NaN for the fill value.

    ``weights`` ``(rows,)`` is the number of positions of each entry of a row, or None if entries are positions. Raises
    InputError if xarray is not installed.
    """
    imported("xarray", "to_xarray", "xarray")
    import dask.array
    import pandas
    import xarray

    numbers = "index" if weights is None else "entry"
    coordinates: dict[str, Any] = {numbers: pandas.RangeIndex(array.size)}
    if weights is not None:
        rows = dask.array.from_array(weights[:, np.newaxis], chunks=array.chunks)  # type: ignore[no-untyped-call]
        weight = dask.array.broadcast_to(rows, array.shape).reshape(-1)  # type: ignore[no-untyped-call]
        coordinates["weight"] = numbers, weight
    depths = dask.array.from_zarr(array).reshape(-1)  # type: ignore[no-untyped-call]
    found = xarray.DataArray(depths, coordinates, [numbers], "depth", {"_FillValue": array.fill_value})
    decoded: xarray.DataArray = xarray.decode_cf(found.to_dataset())["depth"]
    return decoded.assign_attrs(**attributes)
