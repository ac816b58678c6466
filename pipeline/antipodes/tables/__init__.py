"""Tables: the distance of every position of a puzzle, computed, stored, queried and verified.

* Compute: `run`, with its report in `json_results`; `layers` contains the parts of a search, `strategies` the choices
  between them, `planning` chooses, `search` searches, `journal` stores the segments found so far, and `store` is the
  table on disk.
* Query: `table`, which reads through `store`, and `queries`; `counts` for counts-only runs.
* Solve a position with a table or a search: `solve`. Compare a heuristic with a table: `evaluation`.
* Verify: `verify`, with one check for each kind of table: `check_depths`, `check_keys`, and `check_bytes` if the moves
  are unknown. `check_sample` checks a sample by the rules of the puzzle alone.
* Output: `drawing` for people, `json_results` for programs.
"""
