"""Pictures in files: sheets of several, as SVG, PNG and GIF."""
