"""The search of a counts-only run: as for a table, with checkpoints of the bits in place of a journal."""

from antipodes.tables.layers.commits import CountsCommits
from antipodes.tables.layers.counting import CountingGroups
from antipodes.tables.layers.search import LayerSearch
from antipodes.tables.planning.plan import Plan
from antipodes.tables.store.search_manifest import MOST_ANTIPODES
from antipodes_tasks.errors import SchedulerError


class CountsSearch(LayerSearch):
    """A search that keeps the layers and the first antipodes."""

    GROUPS = CountingGroups
    commits: CountsCommits

    def _continue_with(self, plan: Plan) -> None:
        """Search until workers change; once nothing is left to be found, commit the layers and the antipodes."""
        self._place(plan)
        self._search()
        if self._groups is not None and not self._session.interrupted:
            antipodes = self._groups.positions(self._found.depth, MOST_ANTIPODES).tolist()
            self.commits.complete(self._found.layers, antipodes)
            self._groups = None

    def _roll_back(self, error: SchedulerError) -> None:
        """Return to the last checkpoint with all groups; raises as `LayerSearch`."""
        super()._roll_back(error)
        self._groups = None
