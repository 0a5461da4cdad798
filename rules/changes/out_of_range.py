"""What every module of changes raises for a value it does not print."""

from rules.finding import RefusedValue


class OutOfRange(RefusedValue):
    """A value the product would refuse, that is there already, or that must not be set: never to be printed."""
