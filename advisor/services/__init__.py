"""One verb per function; every door calls these."""
