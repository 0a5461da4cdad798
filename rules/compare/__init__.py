"""Two captures of one system held against each other: per unit of work, how alike the work was, what changed."""
