"""Series and comparisons of `../shared/cases` that 0.6.0 judged wrong, where that folder is there."""

from pathlib import Path

import pytest

from advisor.audits.services.pairing import sides
from advisor.uploads.services.reading import captures_of, read_exports
from collectors.facts import Capture
from rules.audit import Audit, audit
from rules.compare.compare import Comparison, compare
from rules.finding import Severity

CASES = Path(__file__).resolve().parent.parent.parent / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/cases here")


def captures(*path: str) -> list[Capture]:
    return captures_of(read_exports([str(CASES.joinpath(*path))], None), None)  # type: ignore[arg-type]  # no input


def audited(file: str) -> Audit:
    (one,) = captures("series", file)
    return audit(one)


def compared(before: list[Capture], after: list[Capture]) -> Comparison:
    first, second, _ = sides(before, after, None)
    return compare(first, second)


def test_a_change_is_not_denied() -> None:
    case = "compare_denies_the_change"
    found = compared(captures(case, "vlh_4_hot_tables"), captures(case, "vlh_5_one_scan"))
    assert found.verdict == "improved"
    assert "cache hot_tables: size, MB" in {one.name for one in found.settings}
    assert {one.applied for one in found.changes} == {True}


def test_better_here_and_worse_there_is_mixed() -> None:
    found = compared(captures("compare_mixed", "mixed_before.csv"), captures("compare_mixed", "mixed_after.csv"))
    assert found.verdict == "mixed"
    assert "2.693 → 3.9" in found.why
    assert "341,316 → 480,000" in found.why


def test_a_dedicated_lock_manager_is_judged_from_the_series_without_it() -> None:
    (found,) = [one.finding for one in audited("dlm_off.txt").findings if one.rule == "openvms/concurrency_past_peak"]
    assert "about 270,000 per second under overload" in found.unknown
    assert "where 216,000 are left" in found.unknown


def test_with_and_without_in_one_file_are_compared() -> None:
    (found,) = audited("dlm_two_series.txt").comparisons
    assert (found.before.label[-11:], found.after.label[-8:]) == ("without DLM", "with DLM")
    assert found.verdict == "improved"


def test_sizes_of_a_hash_table_are_a_series_over_a_parameter() -> None:
    (found,) = audited("rht_sizes.csv").findings
    assert (found.rule, found.finding.severity) == ("scaling/parameter_gain_flattens", Severity.NOTE)


def test_a_title_with_one_comma_is_read() -> None:
    (one,) = captures("series", "title_with_one_comma.csv")
    titles = [getattr(fact, "title", None) for fact in one.facts]
    assert titles == ["SKYE rx6600 1590 MHz - 8 cores", "ORKNEY rx2660 1400 MHz - 4 cores, dual CPU"]
