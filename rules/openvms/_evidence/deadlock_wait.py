"""DEADLOCK_WAIT, and what counts the searches that it starts."""

from collectors.facts.openvms import LockRates
from rules.finding import MissingInput

NAME = "DEADLOCK_WAIT"
DEFAULT = 10.0
"""Seconds, of the vendor's listing: assumed where the value is not in the export."""
LONGEST = 2**31 - 1
COLLECTED_BY = MissingInput("deadlock searches and finds per second", f"{LockRates.COLLECTED_BY}, or MONITOR LOCK")
