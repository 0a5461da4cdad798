"""Systems, groups of them, their history, the overview."""
