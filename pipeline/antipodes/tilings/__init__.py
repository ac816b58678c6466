"""Tilings: search for all ways to fill a board with pieces; count, store, browse, verify and draw them."""
