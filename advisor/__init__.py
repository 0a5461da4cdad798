"""The service: the only part that knows Django."""
