"""What is opened for use in ``with``, and closed after the block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Opened(ABC):
    """A context manager of its own, closed when the block ends."""

    @abstractmethod
    def close(self) -> None:
        """Free what it holds; closing it again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
