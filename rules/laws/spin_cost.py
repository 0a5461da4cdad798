"""What spinning costs: a spin lock's rate, time and share, in milliseconds per transaction and in processors.

Source: "Scheduler Lock Improvement" of the z/VM 4.4.0 performance report, Table 1. All six columns keep rate × time =
per cent without dividing by the processors, so rate and per cent are those of the mean processor. What it makes of the
columns: 9 processors 8.30 → 0.18 ms of 23.1 → 3.03 CP ms per transaction, 16 processors 27.7 → 15.3 of 54.1 → 47.0.
"""

INSTRUMENTS_PERCENT = 2.0
"""How far two instruments of one run differ: CPU time per transaction (hardware) and utilisation (CP) by 1.6 % at most
in the six published columns."""
IDENTITY_PERCENT = 0.1
"""How far rate × time may lie from the printed per cent, beyond rounding."""


def spin_percent(rate: float, usec: float) -> float:
    """Share of a processor's time, %: spins per second × mean time of one, µs."""
    return rate * usec * 1e-4


def spin_msec_per_transaction(processors: float, percent: float, transactions: float) -> float:
    """CPU time spent spinning per transaction, ms.

    `percent` is the mean of the processors, `transactions` are per second. Raises `ValueError` for none of them.
    """
    if transactions <= 0:
        raise ValueError("no transactions: there is no time per transaction")
    return processors * percent * 10 / transactions


def share_percent(part: float, whole: float) -> float:
    """`part` of `whole`, %: spinning of CP's time. Raises `ValueError` where there is no whole."""
    if whole <= 0:
        raise ValueError("there is no time to have a share of")
    return 100 * part / whole


def processors_lost(processors: float, percent: float) -> float:
    """Processors' worth of time that is spent spinning: `percent` is the mean of the processors."""
    return processors * percent / 100


def keeps_identity(
    rate: float, usec: float, percent: float, *, rounding: tuple[float, float, float], within: float = IDENTITY_PERCENT
) -> bool:
    """Whether rate × time gives the per cent, `within` per cent and the rounding of the three as printed.

    A column in the wrong place does not: the per cent is then another figure. Rate and time that changed places do,
    for their product is the same.
    """
    of_rate, of_time, of_percent = rounding
    slack = within / 100
    low = spin_percent(max(0.0, rate - of_rate), max(0.0, usec - of_time)) * (1 - slack) - of_percent
    high = spin_percent(rate + of_rate, usec + of_time) * (1 + slack) + of_percent
    return low <= percent <= high


def adds_up(total: float, cp: float, emulation: float) -> bool:
    """Whether CP's and the guests' time per transaction give the total, ms, within the rounding of three decimals."""
    return abs(total - cp - emulation) <= 0.002
