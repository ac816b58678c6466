"""The explorer: shows stores of every kind in a browser, through a small read-only JSON API."""
