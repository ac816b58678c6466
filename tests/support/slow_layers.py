"""Preloaded in a worker, this makes each layer take longer, so that something can happen in the meantime."""

import os
import time
from typing import Any

from antipodes.tables.layers.residence import Residence


def dask_setup(worker: Any) -> None:
    """Let this worker sleep in each layer for as many seconds as the environment says."""
    layer, seconds = Residence._layer, float(os.environ["LAYER_SECONDS"])

    def slow_layer(residence: Any, *arguments: Any) -> Any:
        time.sleep(seconds)
        return layer(residence, *arguments)

    Residence._layer = slow_layer  # type: ignore[method-assign]
