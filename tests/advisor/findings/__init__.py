"""Findings as work."""
