"""Load series of any product: one rule per file, the path is the id."""
