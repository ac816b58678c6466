"""The report on a store: one HTML page that needs nothing else, to send or to publish."""
