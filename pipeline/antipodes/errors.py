"""All errors that the program raises on purpose, for Python programs: `antipodes.errors`."""

from antipodes_tasks.base.errors import *  # noqa: F403
