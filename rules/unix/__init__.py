"""Rules about record locking on UNIX."""
