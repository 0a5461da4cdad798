"""One file per kind of report."""
