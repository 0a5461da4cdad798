"""Reports about z/VM systems."""
