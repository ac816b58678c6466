"""What a run of any kind is made of, whether it computes a table or tilings.

``options`` say how to run; a ``session`` holds the lock of the store and the scheduler; ``resume_hint`` words how to
resume after an error; a ``clock`` measures the phases, and a ``report`` says what was computed. A ``verdict`` is the
result of a verification.
"""
