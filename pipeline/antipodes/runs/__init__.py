"""The parts shared by all kinds of runs and verifications, whether of tables or of tilings.

A ``session`` locks the store, opens the scheduler, and adds to the message of an error how to resume. ``run_results``
are the report of a run, and a ``forecast`` estimates the layers to come. ``verification`` is the frame of all checks.
"""
