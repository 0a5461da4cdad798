"""The load series of a capture: law, harm, runs and modes; several machines in one picture; whose they may be."""

import csv
import io
import re
from collections.abc import Callable

import pytest

from advisor.audits.models import Audit
from advisor.series.services.fitted import fitted
from advisor.series.services.machines import MOST, Offered, compare
from advisor.series.services.stored import MOST_SERIES
from advisor.systems.models import System
from advisor.uploads.models import Upload
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.laws.modes import modes_of
from tests.advisor.ase.servers import audited
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of
from tests.advisor.series.machines import plain, series
from tests.longer import first_of

SIX = ((1.0, 100.0), (2.0, 180.0), (4.0, 300.0), (8.0, 420.0), (16.0, 480.0), (32.0, 470.0))
HOSTILE = '"><script>alert(1)</script>=cmd|'


def loads(audit: Audit, query: str = "") -> str:
    return f"/audits/{audit.pk}/loads/{query}"


def brought(people: People, *made: LoadSeries, name: str = "STAFFA") -> Audit:
    return audited(people, list(made), name, "openvms")


def moved(audit: Audit, people: People) -> Audit:
    """The same audit, of another team's system."""
    System.objects.filter(pk=audit.system_id).update(team=people.other_team)
    return audit


def bare(page: str, number: int) -> str:
    """The page without what differs each time, and without a number that was asked for."""
    return re.sub(rf'csrfmiddlewaretoken" value="\w+|value="{number}"|audit {number}\b', "", page)


def test_the_page_names_the_capped_law_its_errors_the_peak_and_where_adding_does_harm(
    people: People, as_user: AsUser
) -> None:
    page = words_of(text_of(as_user(people.colleague), loads(brought(people, series()))))
    one = fitted(1, series())
    model = one.model
    assert model.usable
    assert model.errors is not None
    assert "its load capped at the 4 processors; rises to a peak and falls beyond it" in page
    assert f"R² {model.r2:.3f}" in page
    assert f"{model.beta:.5g} {model.errors[1]:.5g}" in page
    assert "Adding does harm beyond 2 processes (by the law); at 6, the highest measured, 28 % less" in page


def test_every_run_has_its_share_of_the_peak_and_its_modes_in_processors_worth(people: People, as_user: AsUser) -> None:
    page = words_of(text_of(as_user(people.colleague), loads(brought(people, series()))))
    assert "Time in each mode, CPUs Read from Idle MP synch Kernel User" in page
    run = fitted(1, series()).runs()[3]
    assert f"4 229,600 72.1 {run.fitted:,.0f} 0.00 2.64 1.04 0.32 staffa.txt:7" in page


def test_a_table_of_many_runs_looks_at_each_run_twice_at_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CSV file of 3,000 runs once took twelve seconds: all runs were looked at again for each."""
    looked: list[LoadPoint] = []

    def noting(point: LoadPoint) -> dict[str, float]:
        looked.append(point)
        return modes_of(point)

    one = fitted(1, plain(*((1 + n % 6, 100 + n) for n in range(300))))
    monkeypatch.setattr("advisor.series.services.fitted.modes_of", noting)
    assert len(one.runs()) == 300
    assert len(looked) <= 600


def test_a_mode_that_a_row_does_not_give_is_no_zero() -> None:
    part = series()
    bare = part.points[0].__class__(load=7.0, rate=1.0)
    one = fitted(1, LoadSeries(**{**vars(part), "points": (*part.points, bare)}))
    assert one.modes == ("idle", "mp_synch", "kernel", "user")
    assert one.runs()[-1].processors == (None,) * 4


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (plain(*SIX[:5]), "No harm was measured: the highest load measured, 16 users, did most."),
        (plain((1, 100), (2, 180), (3, 178)), "two equal runs may differ by 5 %"),
        (plain((1, 100), (2, 180), (3, 90)), "3 different loads are too few to say so"),
        (plain((1, 100), (2, 180), (3, 120), (4, 90)), "beyond 2 users (by the measured rates alone, no law is used)"),
        (plain((1, 100), (2, -3), (3, 90)), "Nothing can be said of adding more"),
        (plain((1, 100), (2, 180), (3, 90), derived=True), "do not show that the machine could not do more"),
        (plain((1, 180), (2, 100), (3, 90)), "Adding does harm beyond 1 user (by"),
        (plain((1, 100), (1, 80), (2, 75), (3, 85), (3, 79)), "repeated runs at the two overlap: measure again"),
    ],
    ids=["rising", "noise", "few", "measured", "impossible", "derived", "one", "scattered"],
)
def test_what_is_said_of_adding_more_rests_on_what_was_measured(made: LoadSeries, words: str) -> None:
    assert words in fitted(1, made).harm_said


def test_a_fall_among_runs_that_overlap_is_not_shaded_as_harm() -> None:
    """`scaling/throughput_retrograde` says `untrusted` of it: the page may not say more than the rule."""
    scattered = fitted(1, plain((1, 100), (1, 80), (2, 75), (3, 85), (3, 79)))
    assert scattered.course
    assert scattered.course.fall_percent > 5
    assert "adding does harm" not in scattered.picture.lower()
    assert "adding does harm" in fitted(1, plain((1, 100), (1, 98), (2, 95), (3, 85), (3, 79))).picture.lower()


def test_a_law_that_is_not_used_is_named_with_its_reason_and_not_drawn(people: People, as_user: AsUser) -> None:
    page = text_of(as_user(people.colleague), loads(brought(people, plain(*SIX[:4]))))
    assert "Not used" in page
    assert "different loads: fewer than 6" in words_of(page)
    assert "By the law" not in page
    assert "No law is drawn." in page


def test_series_whose_figures_cannot_be_are_not_drawn(people: People, as_user: AsUser) -> None:
    page = text_of(as_user(people.colleague), loads(brought(people, plain((1, 100), (2, -3), (3, 90)))))
    assert "Not believed: " in page
    assert "<svg" not in page
    assert "nothing is held against it" in page


def test_a_capture_without_a_series_says_what_to_bring(people: People, as_user: AsUser) -> None:
    page = text_of(as_user(people.colleague), loads(brought(people)))
    assert "No load series in this capture" in page
    assert "a CSV with a load column" in page


def test_the_csv_file_has_every_run_with_its_further_columns_and_no_formula(people: People, as_user: AsUser) -> None:
    made = brought(people, series(title="=1+1"), plain((1.0, 0.00003), (2.0, 5.0)))
    text = text_of(as_user(people.colleague), loads(made, "loads.csv"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 8
    assert rows[0]["title"] == "'=1+1"
    assert (rows[3]["mp synch processors"], rows[3]["response_ms"]) == ("2.64", "3.5")
    assert (rows[6]["rate"], rows[6]["rate by the law"], rows[6]["response_ms"]) == ("0.00003", "", "")


def test_two_machines_stand_in_one_picture_as_measured_or_at_one_clock(people: People, as_user: AsUser) -> None:
    here = brought(people, series("STAFFA rx6600"))
    there = brought(people, series("slow rx6600", 0.75, 4, 800.0), name="BARRA")
    client = as_user(people.colleague)
    plain_page = text_of(client, loads(here))
    assert f'id="with{there.pk}"' in plain_page, "the form offers it"
    assert plain_page.count("<figure") == 1
    both = words_of(text_of(client, loads(here, f"?with={there.pk}")))
    assert "1 236,000 177,000 0.75" in both
    assert "5 228,000" not in both.split("means of the runs")[0].split("BARRA: slow rx6600")[-1], (
        "measured on one alone"
    )
    scaled = words_of(text_of(client, loads(here, f"?with={there.pk}&scaled=1")))
    assert "Rates scaled to 1,250 MHz" in scaled
    assert f"1 236,000 {177_000 * 1250 / 800:,.0f} 1.17" in scaled
    assert "BARRA: slow rx6600 does more with each cycle" in scaled


def test_rates_of_two_models_are_not_scaled_whatever_their_clocks(people: People, as_user: AsUser) -> None:
    here = brought(people, series("STAFFA rx6600"))
    there = brought(people, series("AlphaServer ES40", 0.75, 4, 800.0), name="BARRA")
    page = words_of(text_of(as_user(people.colleague), loads(here, f"?with={there.pk}&scaled=1")))
    assert "Not scaled by clock: STAFFA rx6600 and BARRA: AlphaServer ES40 do not show one model by their names" in page
    assert "As measured, BARRA: AlphaServer ES40 does 0.75 times what STAFFA rx6600 does" in page
    assert "more with each cycle" not in page


def test_rates_are_not_scaled_where_a_clock_is_not_in_the_export(people: People, as_user: AsUser) -> None:
    here = brought(people, series())
    there = brought(people, series("slow", 0.75, 4, None), name="BARRA")
    page = words_of(text_of(as_user(people.colleague), loads(here, f"?with={there.pk}&scaled=1")))
    assert "Not scaled by clock: the clock of BARRA: slow is not in the export." in page
    assert "1 236,000 177,000 0.75" in page


def test_a_capture_of_another_team_is_neither_offered_nor_shown(people: People, as_user: AsUser) -> None:
    here = brought(people, series())
    secret = moved(brought(people, series("SECRET", 0.75), name="BARRA"), people)
    page = text_of(as_user(people.colleague), loads(here, f"?with={secret.pk}"))
    assert f"There is no audit {secret.pk} of another capture that you may see." in page
    assert not re.search("SECRET|BARRA", page)
    assert page.count("<figure") == 1
    unknown = text_of(as_user(people.colleague), loads(here, "?with=999999"))
    assert bare(page, secret.pk) == bare(unknown, 999999)
    assert as_user(people.colleague).get(loads(secret)).status_code == 404
    assert as_user(people.colleague).get(loads(secret, "loads.csv")).status_code == 404
    assert "SECRET" in text_of(as_user(people.stranger), loads(secret))


def test_series_that_count_something_else_are_named_with_the_difference(people: People, as_user: AsUser) -> None:
    here = brought(people, series(), plain(*SIX, title="payments"))
    there = brought(people, plain(*SIX, title="runs"), name="BARRA")
    page = words_of(text_of(as_user(people.colleague), loads(here, f"?with={there.pk}")))
    assert (
        "Not in the picture: BARRA: runs: counts throughput by user, and STAFFA lock operations per second by process."
    ) in page
    turned = words_of(text_of(as_user(people.colleague), loads(here, f"?with={there.pk}&series=2")))
    assert "Not in the picture" not in turned
    assert "1 100 100 1.00" in turned


def test_six_series_are_the_most_and_the_others_are_named() -> None:
    base, others = fitted(1, series()), [Offered(fitted(n, series(f"M{n}", 0.1 * n))) for n in range(2, 9)]
    found = compare(base, others)
    assert len(found.machines) == MOST
    assert [one.split(":")[0] for one in found.refused] == ["M7", "M8"]


def test_machines_of_one_name_are_told_apart() -> None:
    found = compare(fitted(1, series()), [Offered(fitted(n, series())) for n in (2, 3)])
    assert [one.name for one in found.machines] == ["STAFFA", "STAFFA (2)", "STAFFA (3)"]


@pytest.mark.parametrize("query", ["?with=x&with=-1&with=²&with=1e9", "?series=99&scaled=2", f"?with={'9' * 400}"])
def test_an_address_that_makes_no_sense_shows_the_page_all_the_same(
    people: People, as_user: AsUser, query: str
) -> None:
    assert text_of(as_user(people.colleague), loads(brought(people, series()), query)).count("<figure") == 1


@first_of(1, "value", [1e117, -1.0, 5e-324], ids=str)
def test_nothing_of_an_export_is_markup_and_many_series_are_cut(people: People, as_user: AsUser, value: float) -> None:
    others = (("=" + HOSTILE, value), ("idle_percent", value))
    hostile = series(HOSTILE)
    points = tuple(hostile.points[0].__class__(load=n + 1.0, rate=value, others=others) for n in range(7))
    changed = {**vars(hostile), "points": points, "load_name": HOSTILE, "rate_name": HOSTILE, "clock_mhz": value}
    made = brought(people, *[LoadSeries(**changed)] * (MOST_SERIES + 2), name=HOSTILE[:80])
    page = text_of(as_user(people.colleague), loads(made, "?scaled=1"))
    assert "<script>alert" not in page
    assert "2 more series of this capture not shown" in page
    assert "<script>alert" not in text_of(as_user(people.colleague), f"/audits/{made.pk}/")
    heading = text_of(as_user(people.colleague), loads(made, "loads.csv")).splitlines()[0]
    assert not re.search(r'(^|,)"?[=@+-]', heading)


def test_the_page_of_the_audit_leads_there_where_there_are_series(people: People, as_user: AsUser) -> None:
    client = as_user(people.colleague)
    for product in ("openvms", "ase", "rdb"):
        made = audited(people, [series()], f"STAFFA{product}", product)
        page = text_of(client, f"/audits/{made.pk}/")
        assert f'href="{loads(made)}"' in page.split('aria-label="Views of this capture"')[1].split("</nav>")[0]
        assert "capped at 4" in page, "its picture has the law with its cap"
    assert "/loads/" not in text_of(client, f"/audits/{brought(people).pk}/")


def test_the_reason_against_a_law_is_said_once(people: People, bring: Callable[..., Upload], as_user: AsUser) -> None:
    """Runs that did different work: neither is a law used, nor is anything said of adding more, for one reason."""
    bring("governor_lowers_the_clock")
    audit = Audit.objects.get()
    told = words_of(text_of(as_user(people.colleague), f"/audits/{audit.pk}/loads/"))
    assert told.count("work per unit is not constant") == told.count("Nothing is said of adding more")
    assert "Nothing is said of adding more, for the same reason." in told
