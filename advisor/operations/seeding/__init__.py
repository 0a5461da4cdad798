"""Fill a database with made rows of the real shape, or make a fleet that drops its exports."""
