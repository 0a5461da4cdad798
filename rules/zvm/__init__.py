"""Rules about z/VM systems."""
