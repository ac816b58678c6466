"""The parts shared by all kinds of runs, whether they compute a table or tilings.

A ``session`` locks the store, opens the scheduler, and adds to the message of an error how to resume. ``run_results``
are the report of a run and the verdict of a verification, and a ``forecast`` estimates the layers to come.
"""
