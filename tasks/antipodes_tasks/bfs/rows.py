"""The division of a table's rows among tasks; apart from the kernels, since plans need no machine code."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Partition:
    """A contiguous range of rows, a whole number of chunks."""

    number: int
    first_row: int
    end_row: int
    """One past the last row."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.end_row - self.first_row
