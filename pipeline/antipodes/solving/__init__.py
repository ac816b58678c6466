"""Solutions of single positions by every method, of one position or a batch, and the tables that guide the searches."""
