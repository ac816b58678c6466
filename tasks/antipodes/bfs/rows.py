"""How the rows of a table are divided among tasks; apart from the kernels, since plans need no machine code."""

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
        """How many rows there are."""
        return self.end_row - self.first_row
