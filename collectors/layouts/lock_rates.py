"""Which rate of lock operations no node of OpenVMS can have had: what a counter shows that went round."""

MOST_LOCK_RATE = 2_000_000.0
"""Per second (this project): four times the highest rate of lock operations known here, 499,842/s."""
TIMES = 20.0
"""This project: so many times the figures beside it a figure stands alone."""


def alone_above(figure: float, beside: float) -> bool:
    """Whether a rate is beyond what is known of lock managers, and alone is."""
    return figure > MOST_LOCK_RATE and figure > TIMES * beside
