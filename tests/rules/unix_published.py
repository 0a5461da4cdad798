"""The tables of APUE 20.9 (third edition) as facts: figures 20.6, 20.7 and 20.8, seconds and counts as printed."""

from collectors.facts import Facts, Source
from collectors.facts.unix import LockingCalls, LockingRun

FIGURE_20_8 = """
1 .14 .35 .50 .14 .35 .50 0 .15 .42 .58 20
2 .60 1.43 1.88 .54 1.36 1.10 71 .65 2.01 1.59 48
3 .97 2.67 3.18 1.37 3.73 2.20 45 1.62 5.67 3.28 52
4 2.38 6.17 5.59 2.83 8.15 4.07 37 3.29 12.35 6.31 52
5 3.72 10.17 8.37 4.28 11.86 6.09 37 4.96 18.47 9.49 56
6 5.02 14.52 11.52 6.04 17.46 8.89 30 6.66 26.38 13.22 51
7 7.00 20.16 15.84 8.06 23.23 11.88 33 9.12 36.13 18.09 56
8 9.12 26.20 20.31 10.50 30.50 15.48 31 11.81 47.20 23.49 55
9 11.60 33.91 25.64 13.40 37.80 19.29 33 14.54 60.23 29.66 59
10 14.28 42.24 31.35 16.39 47.01 23.74 32 17.84 74.05 36.27 58
11 17.37 51.12 37.50 19.71 56.59 28.57 31 21.57 90.14 44.10 59
12 20.70 60.48 44.24 23.47 66.10 33.34 33 25.57 108.94 53.11 65
13 25.13 70.67 51.96 27.70 77.76 39.21 33 29.71 133.31 63.07 71
14 28.40 82.23 59.88 32.34 91.45 46.22 30 34.22 155.80 73.86 70
15 32.23 94.26 68.30 36.32 102.97 51.82 32 39.05 180.66 84.14 75
16 37.24 107.87 78.67 42.17 118.20 59.72 32 44.11 208.28 96.8 76
"""
"""Processes; coarse, fine user, system, clock; ΔClock; mandatory fine user, system, clock; ΔSys. The last digit of the
last clock is not legible in the copy at hand."""
FIGURE_20_7 = """
2000 .10 .22 .33 .17 .33 .51 .13 .38 .51 .14 .43 .58
6000 .59 1.32 1.91 .88 2.13 3.03 .90 2.14 3.05 .99 2.52 3.53
12000 4.37 9.58 13.97 5.38 12.60 18.01 5.34 12.63 18.01 5.53 15.03 20.60
"""
"""Records; no locks, coarse, fine, mandatory fine: user, system, clock of one process."""
FIGURE_20_6 = """
2920 2 8
468 2 4
405 2 8
416 2 2
71 2 2
32873 2 2
2966 2 2
3388 2 4
422 2 2
"""
"""Count per process; calls of fcntl for each, coarse and fine."""

TITLE = "APUE figure 20.8"


def rows(text: str) -> list[list[float]]:
    """The figures of each line."""
    return [[float(cell) for cell in line.split()] for line in text.strip().splitlines()]


def by_processes() -> list[LockingRun]:
    """Figure 20.8: 16 numbers of processes, three variants."""
    found = []
    for line, row in enumerate(rows(FIGURE_20_8), 1):
        source = Source("apue.txt", line, line)
        for variant, mandatory, (user, system, clock) in (
            ("coarse", False, row[1:4]),
            ("fine", False, row[4:7]),
            ("fine", True, row[8:11]),
        ):
            found.append(
                LockingRun(
                    source=source,
                    title=TITLE,
                    variant=variant,
                    mandatory=mandatory,
                    processes=row[0],
                    user_seconds=user,
                    system_seconds=system,
                    clock_seconds=clock,
                )
            )
    return found


def by_records() -> list[LockingRun]:
    """Figure 20.7: three numbers of records, four variants, one process."""
    found = []
    for line, row in enumerate(rows(FIGURE_20_7), 21):
        for at, (variant, mandatory) in enumerate(
            (("none", False), ("coarse", False), ("fine", False), ("fine", True))
        ):
            user, system, clock = row[1 + 3 * at : 4 + 3 * at]
            found.append(
                LockingRun(
                    source=Source("apue.txt", line, line),
                    title="APUE figure 20.7",
                    variant=variant,
                    mandatory=mandatory,
                    processes=1,
                    records=row[0],
                    user_seconds=user,
                    system_seconds=system,
                    clock_seconds=clock,
                )
            )
    return found


def calls() -> list[LockingCalls]:
    """Figure 20.6: nine operations."""
    return [
        LockingCalls(
            source=Source("apue.txt", line, line),
            title="APUE figure 20.6",
            operation=f"operation {line}",
            count=count,
            coarse_calls=coarse,
            fine_calls=fine,
        )
        for line, (count, coarse, fine) in enumerate(rows(FIGURE_20_6), 31)
    ]


def published() -> Facts:
    """All three."""
    return Facts((*by_processes(), *by_records(), *calls()))
