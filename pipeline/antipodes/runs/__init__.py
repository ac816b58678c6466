"""What a run of any kind is made of, whether it computes a table or tilings.

``options`` say how to run; a ``session`` holds the lock of the store and the scheduler, and words how to resume after
an error. A ``report`` is the result of a run, a verdict that of a verification.
"""
