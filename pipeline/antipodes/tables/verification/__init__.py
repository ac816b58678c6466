"""The check of a stored table: which blocks of depths are read when, how many memory holds, and what they are told.

* `memory` divides the memory limit, `order` puts the tasks in the order that reads the least, `blocks` reads and keeps.
* `check` runs the tasks and collects their findings; `sample` draws positions to check without the move tables.
"""
