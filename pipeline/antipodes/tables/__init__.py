"""Tables: the distance of every position of a puzzle, computed, stored, queried and verified.

* To compute one: `run`, with its `report`; `planning` divides it among tasks, `layers` searches, `journal` keeps the
  segments found so far, `store` is the table on disk.
* To query one: `table`, which reads through `store`, and `queries`; `counts` of a counts-only run.
* To solve a position with a table or a search: `solve`. To compare a heuristic with a table: `evaluation`.
* To check one: `verify`; `verification` decides which chunks are read when, and runs the tasks.
* To show one: `drawing` for people, `report` for programs.
"""
