"""Where the bytes of a store lie: files in a directory, or objects under a URL."""
