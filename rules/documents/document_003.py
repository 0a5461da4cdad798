"""Document 003: one page of "Advanced Programming in the UNIX Environment" on what locking a database costs."""

from rules.documents.kit import Document, Entry

RESULTS = "tests/documents/test_document_003.py"
RUNS = "tests/rules/test_unix_runs.py"
EVERY_DIFFERENCE = f"{RUNS}::test_all_sixteen_differences_of_clock_and_of_system_time_are_the_printed_ones"
SAID = f"{RUNS}::test_the_published_table_recommends_fine_advisory_locks"

ENTRIES = (
    Entry(
        "Coarse against fine, clock time",
        "figure",
        "Coarse-grained locking is the same as fine-grained locking for one process and about 30 % more expensive with "
        "several.",
        "Every ΔClock of Figure 20.8 is worked out from its two clock times; coarse ranges that wait are found, and "
        "finer ones advised.",
        (
            EVERY_DIFFERENCE,
            f"{RUNS}::test_one_process_shows_no_effect_of_finer_ranges",
            SAID,
            "tests/findings/unix/coarse_record_locks.yml#fine locking wins, and system time goes up",
        ),
        ("about 30%",),
        ("unix/coarse_record_locks",),
        quoted=True,
    ),
    Entry(
        "Figure 20.6 (referred to)",
        "table",
        "Operations of each child and their fcntl calls: 87,858 for coarse-grained locking and 115,520 for "
        "fine-grained locking, an increase of 31 %. The page has the totals; the rows stand elsewhere in the book.",
        "The totals and their quotient are worked out from the rows; the advice for finer ranges says that system time "
        "rises with the calls.",
        (f"{RUNS}::test_calls_of_fcntl_add_up_to_the_published_totals", SAID),
        ("87,858", "115,520", "31% more calls"),
        ("unix/coarse_record_locks", "rules.judging.unix.runs", "collectors.reports.unix.locking_calls"),
    ),
    Entry(
        "Figure 20.7 (referred to)",
        "table",
        "One child: no significant difference between coarse-grained and fine-grained locking without contention. The "
        "page has no figure of it.",
        "Nothing is to be gained by finer ranges where nobody waits.",
        (f"{RESULTS}::test_without_contention_the_calls_alone_cost_next_to_nothing",),
        ("no significant difference",),
        ("unix/coarse_record_locks",),
    ),
    Entry(
        "Blocking with four processes",
        "figure",
        "Coarse-grained locking blocks almost five times more frequently than fine-grained locking; sleeping and "
        "waking costs system time.",
        "Why system time can fall with finer ranges though there are more calls; `manage.py locklab` counts it on the "
        "machine it runs on.",
        (
            f"{RESULTS}::test_with_two_processes_fine_locking_takes_less_system_time_though_it_calls_more",
            "tests/collectors/test_locklab.py::test_a_lock_that_is_held_is_waited_for_and_counted",
        ),
        ("four processes", "almost five times more frequently"),
        ("unix/coarse_record_locks",),
        quoted=True,
    ),
    Entry(
        "Figure 20.8 (referred to): ΔSys",
        "table",
        "Mandatory locking adds between 20 % and 76 % to the system time of advisory fine-grained locking, more with "
        "more processes. The page has the range; the rows stand elsewhere in the book.",
        "Every ΔSys is worked out from its two system times; mandatory locks are advised against.",
        (
            EVERY_DIFFERENCE,
            SAID,
            "tests/findings/unix/mandatory_locking_costs.yml#mandatory locks are dearer the more processes lock",
        ),
        ("between 20% and 76%",),
        ("unix/mandatory_locking_costs", "collectors.reports.unix.locking_runs"),
    ),
    Entry(
        "Clock frequency",
        "figure",
        "User times of coarse-grained locking were almost twice those of fine-grained locking, because the system "
        "lowered the clock of processors that waited; with frequency scaling off the difference was much smaller.",
        "User times of one row are held against each other; where they differ the comparison is not believed until the "
        "clock is fixed.",
        (
            f"{RUNS}::test_almost_twice_the_user_time_makes_every_comparison_of_these_variants_untrusted",
            f"{RUNS}::test_user_times_of_the_published_table_say_that_the_clock_stood_still",
            "tests/findings/unix/clock_frequency_moved.yml#almost twice the user time for the same code",
        ),
        ("almost twice as long",),
        ("unix/clock_frequency_moved", "rules.judging.unix.clock"),
        quoted=True,
    ),
    Entry(
        "First row of Figure 20.8 against Figure 20.7",
        "figure",
        "The values for one process are similar to those for an nrec of 2,000 in Figure 20.7: a check of the method.",
        "A check of the method, done in the test.",
        (f"{RESULTS}::test_the_first_row_of_figure_20_8_is_that_of_2_000_records_in_figure_20_7",),
        ("nrec of 2,000",),
        ("rules.judging.unix.runs",),
    ),
)
DOCUMENT = Document(
    "003",
    "Advanced Programming in the UNIX Environment, section 20.9, page 785",
    "W. Richard Stevens and Stephen A. Rago, third edition",
    "What coarse and fine, advisory and mandatory record locking cost with many processes.",
    ENTRIES,
)
