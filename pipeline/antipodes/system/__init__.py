"""The machine, files and addresses as the user names them, options of runs, and events that a run reports."""
