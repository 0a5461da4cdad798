"""Captures, their audits and findings, limits, the rule book, before and after."""
