"""Machine code through numba: compilation and caching of kernels, and operations on bits."""
