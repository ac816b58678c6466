"""Executors: where tasks run, whatever they compute: threads of this process, or the workers of a cluster."""
