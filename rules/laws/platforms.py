"""What was published of one kind of machine against another: pairs, and the releases they are of.

Two sources: HP's talk on the performance of OpenVMS on Integrity (2004, field test X8.2 against V7.3-2 on Alpha), and
JCC Consulting's slides on the OpenVMS lock manager (2014, V8.4) for the emulator. They explain why a machine behaves as
it does; they promise nothing for another one. Most of the talk's charts have no figures in its text: `CHARTS_ALONE`
names them, so that nobody looks for their figures here.
"""

from dataclasses import dataclass

from rules.sources import HP, JCC

QUEUE_ES45, QUEUE_SERVICE, QUEUE_EPC = 5.21, 178.21, 14.59
"""Seconds of a loop of INSQUE and REMQUE, printed as 0:05.21, 2:58.21 and 0:14.59."""
SLOWER_AS_SERVICE, SLOWER_THROUGH_EPC = QUEUE_SERVICE / QUEUE_ES45, QUEUE_EPC / QUEUE_ES45
"""Times an ES45's time: 34 and less than 3 as printed, 34.2 and 2.8 by arithmetic."""
KPB_BEFORE, KPB_AFTER = 2_084.0, 10_999.0
"""I/Os per second of an rx2600 before and after kernel process blocks were cached, for which MMG was spun."""
MOVES_ONE_STREAM, MOVES_FOUR_STREAMS = 15.0, 38.0
"""By how many per cent, about, the test RMS1 improved when moving memory was rewritten."""
IMAGE_TIMES = 3.0
"""How many times as large as on Alpha an image on Integrity typically is."""
EMULATOR_PERCENT = 40.0
"""About what the emulator did of a 666 MHz ES40's lock operations."""
HIGHER_CLOCK, LOWER_CLOCK = 666.0, 500.0
"""MHz of the two ES40s whose lock rates the slides compare (`rules.laws.clock` does that arithmetic)."""

BEFORE_RELEASE = "field test X8.2 and older on Integrity; repaired before V8.2 was released"
ANY_INTEGRITY = "every release on Integrity"
AS_OF_2004 = "the two machines named, as of 2004"
THAT_EMULATOR = "an obsolete version of one emulator on a slow host (AMD Opteron 6174, 2.2 GHz)"


@dataclass(frozen=True)
class Side:
    """One side of a published pair: the machine or the state, and its figure where the text has one."""

    name: str
    value: float | None = None


@dataclass(frozen=True)
class Pair:
    """One published comparison."""

    key: str
    what: str
    unit: str
    """Of both figures; empty where the text has none."""
    first: Side
    second: Side
    printed: str
    """What the source says of the two, in its own measure."""
    applies_to: str
    source: str

    @property
    def times(self) -> float | None:
        """The second figure ÷ the first; `None` where the text does not have both."""
        if self.first.value is None or self.second.value is None:
            return None
        return self.second.value / self.first.value


LOOP = "a loop of INSQUE and REMQUE"
QUEUE_AS_SERVICE = Pair(
    "queue-service",
    f"{LOOP}, queue instructions as system services",
    "s",
    Side("ES45", QUEUE_ES45),
    Side("rx2600", QUEUE_SERVICE),
    "34 times slower",
    BEFORE_RELEASE,
    HP,
)
QUEUE_THROUGH_EPC = Pair(
    "queue-epc",
    f"{LOOP}, queue instructions through EPC (Enter Privileged Code)",
    "s",
    Side("ES45", QUEUE_ES45),
    Side("rx2600", QUEUE_EPC),
    "less than 3 times slower",
    ANY_INTEGRITY,
    HP,
)
KERNEL_PROCESS_BLOCKS = Pair(
    "kpb",
    "heavy disk I/O, kernel process blocks (KPB) never cached and cached",
    "I/Os per second",
    Side("rx2600 before", KPB_BEFORE),
    Side("rx2600 after", KPB_AFTER),
    "a one-line fix",
    BEFORE_RELEASE,
    HP,
)
MOVES = tuple(
    Pair(
        f"moves-{streams}",
        f"test RMS1, {said}, before and after memory moves (OTS$MOVE, OTS$MOVEM) were rewritten",
        "",
        Side("Integrity before"),
        Side("Integrity after"),
        f"improved by about {percent:g} %",
        BEFORE_RELEASE,
        HP,
    )
    for streams, said, percent in ((1, "one stream", MOVES_ONE_STREAM), (4, "four streams", MOVES_FOUR_STREAMS))
)
IMAGES = Pair(
    "images",
    "size of an image, which costs I/O and page faults when it starts",
    "",
    Side("Alpha"),
    Side("Integrity"),
    f"typically {IMAGE_TIMES:g} times as large",
    ANY_INTEGRITY,
    HP,
)
MACHINES = Pair(
    "machines",
    "whole systems",
    "",
    Side("ES45, 1 GHz"),
    Side("rx4640, 1.5 GHz"),
    "perform similarly",
    AS_OF_2004,
    HP,
)
EMULATOR = Pair(
    "emulator",
    "lock operations",
    "",
    Side("ES40, 666 MHz"),
    Side("emulated ES40"),
    f"about {EMULATOR_PERCENT:g} % of the hardware",
    THAT_EMULATOR,
    JCC,
)
EMULATOR_SATURATED = Pair(
    "emulator-saturated",
    "lock operations with saturation",
    "",
    Side("ES40, 500 MHz"),
    Side("emulated ES40"),
    "approaches the hardware",
    THAT_EMULATOR,
    JCC,
)
PUBLISHED = (
    QUEUE_AS_SERVICE,
    QUEUE_THROUGH_EPC,
    KERNEL_PROCESS_BLOCKS,
    *MOVES,
    IMAGES,
    MACHINES,
    EMULATOR,
    EMULATOR_SATURATED,
)
CHARTS_ALONE = (
    "integer computations (VUPS)",
    "time to process a work unit",
    "memory bandwidth",
    "memory latency",
    "disk I/O of one process",
    "disk I/O of two processes",
    "Gigabit Ethernet, transmit: MB/s",
    "Gigabit Ethernet, transmit: CPU",
    "Gigabit Ethernet, transmit and receive: MB/s",
    "Gigabit Ethernet, transmit and receive: CPU",
    "system services",
    "lock manager stress test",
    "cached I/O of 1 block (XFC)",
    "cached I/O of 4 blocks (XFC)",
    "cached I/O of 16 blocks (XFC)",
    "RMS1 on a RAM disk",
    "rx4640 against rx4640-8 (mx2)",
    "CPU time of the InfoServer",
    "Apache: requests per second",
    "Apache: CPU",
    "projected crossover of Alpha and Integrity",
)
"""What the talk compares in charts whose figures are not in its text."""
