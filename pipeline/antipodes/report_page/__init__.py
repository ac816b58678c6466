"""What is published of a store: a report, one HTML page that needs nothing else; or results as JSON and CSV."""
