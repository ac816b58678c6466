"""Types of the package `antipodes_tasks` that public functions take and return, and all errors."""

from antipodes_tasks.base import errors as errors
from antipodes_tasks.base.errors import AntipodesError as AntipodesError
from antipodes_tasks.properties.finding import Symmetries as Symmetries
from antipodes_tasks.properties.symmetry import Symmetry as Symmetry
from antipodes_tasks.rules.moves import LegalMoves as LegalMoves
from antipodes_tasks.rules.moves import Successors as Successors
from antipodes_tasks.rules.transforms import Transforms as Transforms
from antipodes_tasks.searches.answer import Answer as Answer
from antipodes_tasks.searches.pattern_databases import Patterns as Patterns
