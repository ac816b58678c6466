"""Tilings: all ways to fill a board with pieces, searched for, stored, browsed and verified.

* To find them: `config`, `run` with its `report`, `search`, `commits`.
* On disk: `store`, `manifest`.
* To browse them: `table`, whose rows are `tiling`; to check them: `verify`.
* To show them: `canvas`, `drawing` and `pictures` for people, `views` for programs.
"""
