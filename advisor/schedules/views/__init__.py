"""Pages of schedules, their runs, and groups of systems."""
