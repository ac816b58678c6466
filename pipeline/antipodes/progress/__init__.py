"""The progress of runs as a person sees it: plain lines, a live line on terminals, and the time left."""
