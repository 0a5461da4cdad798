"""Running the service: supervisor, workers, versions, backups, retention, metrics."""
