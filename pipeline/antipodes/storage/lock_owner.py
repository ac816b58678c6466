"""What a lock says about who holds it."""

import json
from collections.abc import Mapping
from typing import Any

from antipodes.errors import StoreLockedError

Signature = Mapping[str, Any]
"""``process``, ``host``, and a random ``token``; the locks of object storage say more."""


def signature_from(content: bytes) -> Signature:
    """What a lock says; nothing where it is not to be understood."""
    try:
        signature = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return signature if isinstance(signature, dict) else {}


def serialised(signature: Signature) -> bytes:
    """The signature as a lock holds it."""
    return json.dumps(signature).encode()


def in_use(address: object, signature: Signature) -> StoreLockedError:
    """What is said to a run that finds the lock held."""
    return StoreLockedError(f"{address} is in use by {_holder(signature)}; wait for it, or stop it")


def taken_over(address: object, signature: Signature) -> StoreLockedError:
    """What is said to who wrote for a holder that is none any more."""
    if not signature:
        reason = "taken over by another process, or removed"
        return StoreLockedError(f"the lock of {address} is gone or cannot be read: {reason}; not written")
    return StoreLockedError(f"{address} was taken over by {_holder(signature)}; not written")


def check_bears(address: object, signature: Signature, token: str) -> None:
    """Raise StoreLockedError unless the lock of the store at an address bears the token."""
    if signature.get("token") != token:
        raise taken_over(address, signature)


def _holder(signature: Signature) -> str:
    if "process" in signature and "host" in signature:
        return f"process {signature['process']} on {signature['host']}"
    return "another process"
