"""Tables: the distance of every position of a puzzle, computed, stored, queried and verified.

* Compute: `run`, with its report in `json_results`; `planning` divides the table among tasks, `layers` searches,
  `journal` stores the segments found so far, and `store` is the table on disk.
* Query: `table`, which reads through `store`, and `queries`; `counts` for counts-only runs.
* Solve a position with a table or a search: `solve`. Compare a heuristic with a table: `evaluation`.
* Verify: `verify`; `check_depths` decides when each chunk is read, and runs the tasks.
* Output: `drawing` for people, `json_results` for programs.
"""
