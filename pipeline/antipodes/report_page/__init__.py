"""Publishing a store: a report, one self-contained HTML page; or its results as JSON and CSV."""
