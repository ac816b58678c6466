"""Bridges to other libraries, one module per library: ``antipodes.bridges.parquet`` and so on.

Each module is imported on first use, and its library when one of its functions is called.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
