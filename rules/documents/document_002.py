"""Document 002: HP's talk of 2004 on OpenVMS on Alpha and on Integrity."""

from rules.documents.kit import Document, Entry
from rules.laws.platforms import CHARTS_ALONE

PLATFORMS = "tests/rules/test_platforms.py"
RESULTS = "tests/documents/test_document_002.py"
SLOW = "tests/findings/openvms/slow_on_integrity.yml"
HOT = "tests/findings/openvms/spinlock_hot.yml"
CHARTS = (
    ("CPU – VUPS test program", "Integer computations.", ()),
    ("Time to Process a Work Unit", "Time for one unit of work, by machine.", ()),
    ("Memory Bandwidth", "The MEMSpeed test program; the text has the machines and no figure.", ()),
    ("Memory Latency", "Less is better.", ()),
    ("IO Performance – single process", "QLogic ISP23xx, 2 Gigabit Fibre Channel.", ()),
    ("IO Performance – two processes", "The same, two processes.", ()),
    ("Gigabit Transmit MBytes/Sec", "rx4640 1.3 GHz (Broadcom 5701) and DS25 1 GHz (Broadcom 5703), PCI @ 66 MHz.", ()),
    ("Gigabit Transmit CPU Utilization", "The same, CPU.", ()),
    ("Gigabit Transmit/Receive MBytes/Sec", "The same, both ways.", ()),
    ("Gigabit Transmit/Receive CPU Utilization", "The same, both ways, CPU.", ()),
    ("System Services – X8.2 vs. 7.3-2", "Times of system services on the field test and on Alpha.", ()),
    ("Lock Manager Stress Test", "Lock operations of Alpha and Integrity.", ("openvms/slow_on_integrity",)),
    ("XFC Cached 1 Block IOs", "Reads from the file cache, 1 block.", ()),
    ("XFC Cached 4 Block IOs", "The same, 4 blocks.", ()),
    ("XFC Cached 16 Block IOs", "The same, 16 blocks.", ()),
    ("RMS1 (RAMdisk)", "ES45 of 1 GHz and rx4640 of 1.5 GHz.", ()),
    ("rx4640 vs. rx4640-8 (mx2 module)", "Two processors in one module.", ()),
    ("OpenVMS InfoServer CPU Usage", "By active client loads; less is better.", ()),
    ("Apache Requests Per Second", "By machine.", ()),
    ("Apache – CPU Utilization", "By machine.", ()),
    (
        "Projected Performance Crossover Point",
        "When Integrity was to overtake Alpha, as predicted two years before.",
        (),
    ),
)
"""In the order of `CHARTS_ALONE`: heading, what the text tells of the chart, who must not claim more."""


def _chart(heading: str, shows: str, used_by: tuple[str, ...], subject: str) -> Entry:
    return Entry(
        heading,
        "chart",
        shows,
        f"not used: the figures are in the picture alone. It is kept as one of the charts without figures "
        f"({subject}), so that no rule claims one.",
        (
            f"{RESULTS}::test_every_chart_without_figures_is_one_of_the_talks",
            f"{PLATFORMS}::test_no_chart_without_figures_has_become_a_figure",
        ),
        (),
        (*used_by, "rules.laws.platforms"),
    )


ENTRIES = (
    Entry(
        "Memory Bandwidth (legend)",
        "table",
        "The machines of the charts: clock and cache.",
        "Names of this form are parted into model, clock and cache; nothing is concluded from them but the order of "
        "two clocks of one model.",
        (f"{RESULTS}::test_the_machines_of_the_legend_are_parted_into_model_clock_and_family",),
        (
            "rx4640 (mx2) 1.1GHz/4MB",
            "rx4640 1.3GHz/3MB",
            "rx2600 1.5GHz/6MB",
            "rx4640 1.5GHz/6MB",
            "ES45 1GHz",
            "GS1280 1.15GHz",
        ),
        ("rules.judging.openvms.hardware",),
    ),
    *(
        _chart(heading, shows, used_by, subject)
        for (heading, shows, used_by), subject in zip(CHARTS[:-1], CHARTS_ALONE[:-1], strict=True)
    ),
    Entry(
        "Various Improvement Successes",
        "figure",
        "Heavy disk I/O of an rx2600: 2,084 per second with the spinlock MMG very hot, because kernel process blocks "
        "(KPB) were never cached; 10,999 after a one-line fix.",
        "Said where MMG is hot on Integrity before V8.3, and with the other repairs of early releases.",
        (
            f"{PLATFORMS}::test_cached_kernel_process_blocks_gave_five_times_the_io",
            f"{HOT}#MMG on an early Integrity release is the case of the missing cache",
            f"{HOT}#MMG on V8.4 is not that case",
        ),
        ("rx2600 2,084 IOs/sec", "rx2600 10,999 IOs/sec"),
        ("openvms/spinlock_hot", "openvms/slow_on_integrity", "rules.laws.platforms"),
        quoted=True,
    ),
    Entry(
        "OTS$MOVE and OTS$MOVEM",
        "figure",
        "Rewritten memory moves improved the test RMS1 by about 15 % for one stream and 38 % for 4 streams.",
        "Said of early releases on Integrity.",
        (
            f"{PLATFORMS}::test_memory_moves_images_and_the_equal_machines_are_told_as_published",
            f"{SLOW}#a field test of V8.2 spends its time in kernel mode",
        ),
        ("about 15% for single stream", "about 38% for 4 streams"),
        ("openvms/slow_on_integrity", "rules.laws.platforms"),
        quoted=True,
    ),
    Entry(
        "Queue Instructions, as system services",
        "arithmetic",
        "A loop of insque and remque: ES45 0:05.21, rx2600 2:58.21, 34 times slower.",
        "178.21 s ÷ 5.21 s; said of early releases on Integrity.",
        (
            f"{PLATFORMS}::test_queue_instructions_are_as_many_times_slower_as_the_talk_prints",
            f"{SLOW}#a field test of V8.2 spends its time in kernel mode",
        ),
        ("ES45: 0:05.21", "rx2600: 2:58.21", "34 times slower"),
        ("openvms/slow_on_integrity", "rules.laws.platforms"),
    ),
    Entry(
        "Queue Instructions, through EPC",
        "arithmetic",
        "The same loop after the repair: rx2600 0:14.59, less than 3 times slower.",
        "14.59 s ÷ 5.21 s = 2.8; holds for every later release on Integrity.",
        (
            f"{PLATFORMS}::test_queue_instructions_are_as_many_times_slower_as_the_talk_prints",
            f"{PLATFORMS}::test_which_release_decides_what_holds",
            f"{SLOW}#V8.4 with much kernel time has all repairs, so the time is of something else",
        ),
        ("rx2600: 0:14.59", "< 3 times slower"),
        ("openvms/slow_on_integrity", "rules.laws.platforms"),
    ),
    Entry(
        "Areas that are Slower on IPF",
        "figure",
        "Queue instructions, PAL calls through services, exceptions; images are typically 3 times as large, which "
        "costs activation time, I/O and page faults.",
        "A note where images start all the time on Integrity; alignment faults have a rule of their own.",
        (
            f"{SLOW}#images start all the time",
            f"{SLOW}#many page faults without file opens are working sets, not images",
            f"{PLATFORMS}::test_memory_moves_images_and_the_equal_machines_are_told_as_published",
        ),
        ("3 times as large",),
        ("openvms/slow_on_integrity", "openvms/alignment_faults", "rules.laws.platforms"),
        quoted=True,
    ),
    _chart(*CHARTS[-1], CHARTS_ALONE[-1]),
    Entry(
        "Conclusions",
        "figure",
        "A 1.5 GHz rx4640 performs similarly to a 1 GHz ES45; OpenVMS V8.2 was to improve on that.",
        "Orders these two machines as equal, and explains a comparison between them; no other pair is told equal.",
        (
            f"{PLATFORMS}::test_the_equal_machines_are_told_of_these_two_alone",
            f"{PLATFORMS}::test_alpha_and_integrity_are_not_comparable_and_the_published_figures_explain",
            "tests/rules/test_mastering.py::test_two_machines_are_ordered_only_where_something_orders_them",
        ),
        ("1.5GHz rx4640", "1GHz ES45", "OpenVMS V8.2"),
        ("rules.judging.openvms.hardware", "rules.laws.platforms"),
        quoted=True,
    ),
)
DOCUMENT = Document(
    "002",
    "OpenVMS Alpha and IPF Performance Comparison",
    "Gregory Jordan, Hewlett-Packard, HP World 2004 (slides)",
    "What is slower and what is faster on Integrity than on Alpha, before OpenVMS V8.2 was released.",
    ENTRIES,
)
