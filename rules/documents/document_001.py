"""Document 001: "ASE 16 & Managing VLDB's with VLH", Jeff Tallman 2014, with a reader's comment."""

from rules.documents.kit import Document, Entry

ADDRESS = "tests/findings/ase/address_lock_spinlock_contended.yml"
RESULTS = "tests/documents/test_document_001.py"
STORY = "tests/test_story_vlh.py"
NEXT_STEP = f"{STORY}::test_each_capture_gives_the_next_step_first"
ARITHMETIC = f"{STORY}::test_the_ratios_are_enough_at_once_with_their_arithmetic"

ENTRIES = (
    Entry(
        "The system that was tested",
        "figure",
        "40 cores with 80 threads, about 450 GB of memory that holds the day's data; ASE 15.7 SP110, whose "
        "monSpinlockActivity tells spinlocks by name; hit ratios of 95 to 98 % with a tenth of the database in memory.",
        "The story of five captures is such a server, with figures of our own: no reads from disk, and spinlocks alone "
        "decide. monSpinlockActivity is read, and ranked by spins.",
        (
            NEXT_STEP,
            f"{STORY}::test_all_five_are_captures_of_one_server_in_order",
            f"{ADDRESS}#contended by two snapshots, and the engines by monEngine",
        ),
        ("40 cores/80 threads", "~450+GB", "95-98% cache hit ratios", "1/10th of the memory", "ASE 15.7 sp110"),
        ("ase/spinlock_dear", "collectors.reports.ase.monitor_tables"),
        quoted=True,
    ),
    Entry(
        "Contention beyond 24 engines",
        "figure",
        "Above 24 engines more than 50 % spinlock contention, and response times that grow exponentially; the sessions "
        "of the load are hundreds or thousands.",
        "Critical from 30 % on; engines are never added against spinning. 24 is no limit of any rule: the peak is that "
        "of the load series brought.",
        (
            f"{ADDRESS}#half of the grabs wait at the default ratio of 100",
            "tests/findings/ase/engines_not_the_answer.yml#busy engines and half of the address lock grabs waiting",
            "tests/findings/ase/engines_past_peak.yml#ten engines online, and the law peaks at five",
        ),
        ("24 engines", ">50%", "high 100's or 1000's of concurrent sessions"),
        ("ase/address_lock_spinlock_contended", "ase/engines_not_the_answer", "ase/engines_past_peak"),
        quoted=True,
    ),
    Entry(
        "Execution times",
        "figure",
        "What should run in 10-20 seconds took well over 5 minutes at 64 engines; under 5 minutes after the address "
        "lock ratio, about 3 after the descriptors' ratios, 1.5 after the system tables had their own cache, 1 after "
        "the hot tables had theirs.",
        "The order of the steps is replayed: each capture gives the next one first. The times are one application's "
        "and nothing is promised by them; the last step is quoted where relaxed caches are advised.",
        (
            NEXT_STEP,
            f"{STORY}::test_no_capture_proposes_what_an_earlier_one_proposed",
            f"{RESULTS}::test_the_five_steps_of_the_story_are_those_whose_times_were_published",
            "tests/findings/ase/cache_suits_relaxed_strategy.yml#a busy lookup cache that replaces nothing",
        ),
        (
            "10-20 seconds",
            "well over 5 minutes when running 64 cores",
            "less than 5 minutes at 64 engines",
            "something like 3 minutes",
            "1.5 minutes of execution at 64 engines",
            "1 minute total execution",
        ),
        (
            "ase/address_lock_spinlock_contended",
            "ase/object_descriptor_spinlock_contended",
            "ase/index_descriptor_spinlock_contended",
            "ase/system_tables_in_default_cache",
            "ase/hot_table_in_default_cache",
            "ase/cache_suits_relaxed_strategy",
        ),
        quoted=True,
    ),
    Entry(
        "The documentation on lock address spinlock ratio",
        "arithmetic",
        "1031 hash buckets: at the default ratio of 100 eleven spinlocks, ten of 100 rows and one of 31; at 1031 or "
        "more one spinlock for all.",
        "The law: buckets ÷ ratio, rounded up.",
        (
            f"{RESULTS}::test_the_default_ratio_gives_ten_spinlocks_of_100_rows_and_one_of_31",
            f"{RESULTS}::test_a_ratio_of_1031_or_more_is_one_spinlock",
        ),
        ("1031 rows", "100", "11 spinlocks", "10 spinlocks protect 100 rows each", "31 rows", "1031 or greater, 1"),
        ("ase/address_lock_spinlock_contended", "rules.laws.spinlocks"),
    ),
    Entry(
        "A ratio of 5",
        "arithmetic",
        "1031/5 = 206.2, so 207 spinlocks: 206 with 5 rows each and one with the last row.",
        "What the rule advises at 64 engines, with this arithmetic; a ratio already below is never raised.",
        (
            f"{RESULTS}::test_a_ratio_of_5_gives_206_spinlocks_of_5_rows_and_one_of_the_last",
            ARITHMETIC,
            f"{ADDRESS}#half of the grabs wait at the default ratio of 100",
            f"{ADDRESS}#a site already below the target is never sent back up",
        ),
        ("1031/5=206.2 or 207 spinlocks", "206 guarding 5 rows each and 1 on the last", "64 engines"),
        ("ase/address_lock_spinlock_contended", "rules.laws.spinlocks"),
    ),
    Entry(
        "After the ratio of 5",
        "figure",
        "Still 2 % or 5 % contention at times; a ratio of 1 would leave what collides inside one bucket.",
        "2 and 5 % are in order. 1 is the last step, with that caution; then only datarows tables help.",
        (
            f"{RESULTS}::test_2_and_5_per_cent_after_the_ratio_are_in_order",
            f"{ADDRESS}#one spinlock a bucket already, nothing left to lower",
            f"{STORY}::test_after_a_ratio_comes_the_next_lower_one",
        ),
        ("2% or 5% spinlock contention", "a ratio of 1"),
        ("ase/address_lock_spinlock_contended", "ase/allpages_table_contended"),
        quoted=True,
    ),
    Entry(
        "10 % starts the search",
        "figure",
        "10 % spinlock contention usually triggers a search and destroy mission.",
        "The limit of the lock spinlocks and the critical limit of the metadata spinlocks, named as practice and not "
        "as the vendor's.",
        (
            f"{ADDRESS}#below the limit",
            f"{RESULTS}::test_ten_per_cent_is_the_limit_of_the_lock_spinlocks_and_named_as_practice",
        ),
        ("10% spinlock contention",),
        (
            "ase/address_lock_spinlock_contended",
            "ase/lock_hash_spinlock_contended",
            "ase/table_lock_spinlock_contended",
            "ase/object_descriptor_spinlock_contended",
            "ase/engines_not_the_answer",
        ),
        quoted=True,
    ),
    Entry(
        "DES and IDES spinlocks",
        "figure",
        "Hidden behind the address locks: then 30-40 % contention, where 50 % had been; ratios set to 5 or 10.",
        "Critical from 10 % on. The first of 10 and 5 that is expected to be enough is advised.",
        (
            "tests/findings/ase/object_descriptor_spinlock_contended.yml#thirty per cent on 15.7 at the default ratio",
            f"{STORY}::test_after_a_ratio_comes_the_next_lower_one",
            ARITHMETIC,
        ),
        ("30-40% spinlock contention", "50%", "5 or 10"),
        (
            "ase/object_descriptor_spinlock_contended",
            "ase/index_descriptor_spinlock_contended",
            "ase/index_hash_spinlock_contended",
            "ase/partition_descriptor_spinlock_contended",
        ),
        quoted=True,
    ),
    Entry(
        "One spinlock, 99 more descriptors",
        "arithmetic",
        "At the default ratio the spinlock of one descriptor protects 99 more.",
        "The same law: descriptors ÷ ratio, rounded up.",
        (f"{RESULTS}::test_one_spinlock_guards_a_descriptor_and_99_more", ARITHMETIC),
        ("99 more",),
        ("ase/object_descriptor_spinlock_contended", "rules.laws.spinlocks"),
    ),
    Entry(
        "ASE 16",
        "figure",
        "16 uses lock-free structures for these counters and keeps systypes with the metadata.",
        "Before 16 the upgrade is named as an option beside the ratios; from 16 on systypes is not counted among the "
        "hot system tables.",
        (
            "tests/findings/ase/release_before_16.yml#object, index and lock spinlocks contended on 15.7",
            "tests/findings/ase/release_before_16.yml#16.0 is there already",
            "tests/findings/ase/system_tables_in_default_cache.yml#from 16.0 on systypes is kept with the metadata",
        ),
        ("ASE 16", "white paper based on 15.5"),
        ("ase/release_before_16", "ase/system_tables_in_default_cache"),
        quoted=True,
    ),
    Entry(
        "Relinkages of the system tables",
        "arithmetic",
        "100,000 over about 2 minutes of execution, which is about 1000 per second or 1 every millisecond.",
        "The rate from which binding system tables is worth its outage, where their share alone does not say so.",
        (
            f"{RESULTS}::test_100_000_relinkages_in_2_minutes_are_833_per_second",
            "tests/findings/ase/system_tables_in_default_cache.yml#a small share of a very busy cache, but more "
            "relinkages than the source found worth an outage",
        ),
        ("100,000 over ~2 minutes", "~1000/sec", "1 every millisecond"),
        ("ase/system_tables_in_default_cache",),
        slip="100,000 in 120 s are 833 per second, one in 1.2 ms; the text rounds to 1000, which is the limit used.",
    ),
    Entry(
        "Relaxed cache, what remained",
        "figure",
        "10-15 % cache spinlock contention even with relaxed replacement in a cache of the tables' own.",
        "Said with the advice; what is left in a relaxed cache is laid to scans, not to further binding.",
        (
            "tests/findings/ase/hot_table_in_default_cache.yml#its tables are bound already and a scan contends their "
            "relaxed cache",
            f"{STORY}::test_the_last_capture_asks_for_better_sql_and_changes_nothing",
        ),
        ("10%-15% cache spinlock contention",),
        ("ase/hot_table_in_default_cache", "ase/cache_suits_relaxed_strategy", "ase/table_scans_relink_cache"),
        quoted=True,
    ),
    Entry(
        "One scan, a million relinkages",
        "arithmetic",
        "A table scan of 1 million pages means 1 million LRU to MRU relinkages.",
        "Scans × pages are the searches laid to a table; the cure is the SQL, and nothing is configured.",
        (
            f"{RESULTS}::test_a_scan_of_a_million_pages_is_a_million_searches",
            "tests/findings/ase/table_scans_relink_cache.yml#one table's scans are most of what a contended cache is "
            "asked",
            "tests/audits/vlh_5_one_scan",
        ),
        ("a 1 million page table scan means 1 million LRU -> MRU relinkages",),
        ("ase/table_scans_relink_cache",),
    ),
    Entry(
        "Comment of a reader (Grant Fidler)",
        "figure",
        "On 15.0 and 15.7 with 32 cores and more no scaling; the sweet spot was 12-15 engines, depending on queries.",
        "not used as a limit: no vendor source says it. The rule quotes it to say that there is none for all, and "
        "takes the peak from the load series brought.",
        (
            "tests/findings/ase/engines_past_peak.yml#ten engines online, and the law peaks at five",
            f"{RESULTS}::test_no_limit_of_the_engine_rule_is_the_sweet_spot_of_the_comment",
        ),
        ("15.0 / 15.7", "32+ cores", "12-15 engines"),
        ("ase/engines_past_peak",),
        quoted=True,
    ),
)
DOCUMENT = Document(
    "001",
    "ASE 16 & Managing VLDB's with VLH (Very Large Hardware)",
    "Jeff Tallman, 2014 (blog), with a reader's comment",
    "Spinlocks of SAP ASE on a large machine: what was changed, in which order, and how long the test then ran.",
    ENTRIES,
)
