"""A process that has the lock of a store until it is killed: ``python tests/support/lock_holder.py ADDRESS``."""

import sys

from antipodes.storage.opening import storage_at

if __name__ == "__main__":
    with storage_at(sys.argv[1]).lock.hold():
        print("held", flush=True)
        sys.stdin.read()
