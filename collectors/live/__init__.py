"""Collectors: what asks a system itself and writes the exports the readers read. Knows no reader."""
