"""Schedules: when they are due, their runs, drop folders and collectors, what is not audited."""
