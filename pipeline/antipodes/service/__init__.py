"""The explorer: stores of every kind in a browser, over a small JSON API that only reads."""
