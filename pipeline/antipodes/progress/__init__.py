"""The progress of runs as the user sees it: plain lines, a live line on terminals, and the time left."""
