"""Machine code through numba: how kernels are compiled and cached, and the operations on bits that they share."""
