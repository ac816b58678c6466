"""The depths of a table as xarray sees them. Needs the extra ``xarray``."""

from typing import TYPE_CHECKING

from antipodes_tasks.errors import missing_package

if TYPE_CHECKING:
    import xarray

    from antipodes.tables.table import Table


def depths_by_index(table: "Table") -> "xarray.DataArray":
    """The depth of each position along the dimension ``index``: read by dask, chunk by chunk, when it is computed.

    Unreached positions have the value of the attribute ``unreached``.

    Raises
    ------
    InputError
        xarray is not installed.
    UnfinishedError
        The table is unfinished.
    """
    try:
        import dask.array
        import pandas
        import xarray
    except ImportError as error:
        raise missing_package("to_xarray", "xarray", "xarray") from error
    array = table.depths
    return xarray.DataArray(
        dask.array.from_zarr(array).reshape(-1),  # type: ignore[no-untyped-call]
        dims=["index"],
        coords={"index": pandas.RangeIndex(table.index_size)},
        name="depth",
        attrs={"puzzle": table.puzzle.name, "radius": table.radius, "unreached": int(array.fill_value)},
    )
