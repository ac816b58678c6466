"""Tables: the distance of every position of a puzzle, computed, stored, queried and verified.

* To compute one: `run`, with its `report`; `planning` divides it among tasks, `layers` searches, `store` is the disk.
* To ask one: `table`, which reads through `store`; `lookup`, `matches` and `paths` are its questions.
* To solve a position with a table or a search: `solve`, `table_method`.
* To check one: `verify`; `verification` decides what is read when, and runs the tasks.
* To show one: `drawing` and `plot` for people, `views` for programs.
"""
