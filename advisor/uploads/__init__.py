"""What people bring: stored, read, and what became of it."""
