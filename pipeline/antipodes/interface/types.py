"""Types of the package `antipodes_tasks` that public functions take and return, and the base class of all errors."""

from antipodes_tasks.base.errors import AntipodesError
from antipodes_tasks.properties.finding import Symmetries
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.rules.moves import LegalMoves, Successors
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.searches.answer import Answer
from antipodes_tasks.searches.pattern_databases import Patterns

__all__ = [
    "Answer",
    "AntipodesError",
    "LegalMoves",
    "Patterns",
    "Successors",
    "Symmetries",
    "Symmetry",
    "Transforms",
]
