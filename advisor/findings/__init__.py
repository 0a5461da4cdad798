"""Findings as work over captures and systems: states, owners, comments, the list."""
