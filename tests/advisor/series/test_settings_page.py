"""Runs under several values of one setting: drawn, compared where nothing else differs, beside what was published."""

from dataclasses import replace

import pytest

from advisor.series.services.fitted import fitted
from advisor.series.services.settings import MOST_VALUES, families, over_parameters
from collectors.facts.scaling import LoadPoint, LoadSeries, ParameterPoint, ParameterSeries
from tests.advisor.ase.servers import audited
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

OFF = ((1.0, 190_000.0), (2.0, 270_000.0), (3.0, 300_000.0), (6.0, 220_000.0), (8.0, 200_000.0))
ON = ((1.0, 175_000.0), (2.0, 272_000.0), (3.0, 312_000.0), (6.0, 306_000.0), (8.0, 302_000.0))
HOSTILE = '"><script>alert(1)</script>'


def runs(points: tuple[tuple[float, float], ...] = OFF, **told: str) -> LoadSeries:
    setup = {"title": "rx6600 - 8 cores", "threads": "off", "dlm": "off", "lvb_bytes": "0"} | told
    return LoadSeries(
        title=", ".join(f"{name} {text}" for name, text in setup.items()),
        load_name="processes",
        rate_name="lock_operations_per_second",
        points=tuple(LoadPoint(load=load, rate=rate) for load, rate in points),
        cores=8,
        product="openvms",
        setup=tuple(setup.items()),
    )


def over(
    parameter: str = "RESHASHTBL", *, switch: bool = False, rates: dict[float, float], **told: str
) -> ParameterSeries:
    return ParameterSeries(
        title="rx6600, 4 processes",
        parameter=parameter,
        rate_name="lock_operations_per_second",
        points=tuple(ParameterPoint(value=value, rate=rate) for value, rate in rates.items()),
        setup=(("title", "rx6600"), *told.items()),
        switch=switch,
    )


def grouped(*series: LoadSeries) -> list[tuple[str, tuple[str, ...]]]:
    found = families([fitted(number, one) for number, one in enumerate(series, 1)])
    return [(one.setting, one.values) for one in found]


def test_a_group_differs_in_one_setting_alone() -> None:
    both = runs(ON, dlm="on", lvb_bytes="16")
    assert grouped(runs(ON, dlm="on"), runs(), both) == [("dlm", ("off", "on")), ("lvb_bytes", ("none", "16 bytes"))]
    assert grouped(runs(), both) == []
    assert grouped(runs(lvb_bytes="64"), runs(), runs(lvb_bytes="16")) == [
        ("lvb_bytes", ("none", "16 bytes", "64 bytes"))
    ]
    assert grouped(runs(), runs(ON, dlm="on", title="ES45")) == []


def test_series_by_their_titles_alone_are_a_group_as_well() -> None:
    off = replace(runs(), setup=(), title="rx6600 - 8 cores, without DLM")
    on = replace(runs(ON), setup=(), title="rx6600 - 8 cores, with DLM")
    assert grouped(on, off) == [("dlm", ("off", "on"))]


def test_a_series_that_cannot_be_what_it_claims_is_held_against_nothing() -> None:
    assert grouped(runs(), runs(((1.0, 0.0), (2.0, 0.0)), dlm="on")) == []


def test_of_many_values_as_many_are_drawn_as_can_be_told_apart() -> None:
    sizes = [runs(reshashtbl=str(2**power)) for power in range(9)]
    (found,) = families([fitted(number, one) for number, one in enumerate(sizes, 1)])
    assert (len(found.values), found.left_out) == (MOST_VALUES, 9 - MOST_VALUES)


def test_the_best_within_noise_is_marked_and_a_missing_value_is_none() -> None:
    (found,) = over_parameters(
        [
            over(rates={2048: 50_000, 8192: 96_000, 65536: 100_000}, dlm="off"),
            over(rates={2048: 40_000, 65536: 80_000}, dlm="on"),
        ]
    )
    assert found.names == ("dedicated lock manager off", "dedicated lock manager on")
    assert [(label, *((one.rate, one.good) for one in cells)) for label, cells in found.rows] == [
        ("2,048", (50_000, False), (40_000, False)),
        ("8,192", (96_000, True), (None, False)),
        ("65,536", (100_000, True), (80_000, True)),
    ]
    assert found.rows[0][1][0].microseconds == pytest.approx(20.0)


def test_a_switch_is_written_off_and_on() -> None:
    (found,) = over_parameters([over("dedicated lock manager", switch=True, rates={0: 1000, 1: 1200})])
    assert list(found.labels.values()) == ["off", "on"]


@pytest.mark.django_db
class TestThePage:
    def test_it_compares_each_figure_singly_beside_the_published_runs(self, people: People, as_user: AsUser) -> None:
        audit = audited(people, [runs(), runs(ON, dlm="on")], "STAFFA", "openvms")
        loads = text_of(as_user(people.owner), f"/audits/{audit.pk}/loads/")
        assert f'href="/audits/{audit.pk}/loads/settings/"' in loads
        html = text_of(as_user(people.owner), f"/audits/{audit.pk}/loads/settings/")
        words = words_of(html)
        assert "on against off: better in one, worse in another" in words
        assert "Reference, not this machine : HP BL870c (1.59GHz/9.0MB), 4 cores" in words
        assert "490,199" in html
        assert "Highest rate 499,842 lock operations per second against 490,000" in words
        assert "within noise" in words

    def test_runs_that_differ_in_more_are_not_compared(self, people: People, as_user: AsUser) -> None:
        audit = audited(people, [runs(), runs(ON, dlm="on", lvb_bytes="16")], "STAFFA", "openvms")
        words = words_of(text_of(as_user(people.owner), f"/audits/{audit.pk}/loads/settings/"))
        assert "No runs in this capture that differ in one setting alone" in words
        assert "better" not in words

    def test_a_size_with_no_figure_published_says_so(self, people: People, as_user: AsUser) -> None:
        audit = audited(people, [over(rates={2048: 50_000, 8192: 96_000})], "STAFFA", "scaling")
        words = words_of(text_of(as_user(people.owner), f"/audits/{audit.pk}/loads/settings/"))
        assert "RESHASHTBL: lock operations per second" in words
        assert "stand in a chart alone" in words

    def test_hostile_text_stays_text(self, people: People, as_user: AsUser) -> None:
        made = [
            runs(title=HOSTILE),
            runs(ON, title=HOSTILE, dlm="on"),
            over(HOSTILE, rates={1: 2.0, 2: 3.0}, node=HOSTILE),
        ]
        html = text_of(
            as_user(people.owner), f"/audits/{audited(people, made, 'STAFFA', 'openvms').pk}/loads/settings/"
        )
        assert "<script>alert" not in html

    def test_a_stranger_sees_nothing_of_it(self, people: People, as_user: AsUser) -> None:
        audit = audited(people, [runs(), runs(ON, dlm="on")], "STAFFA", "openvms")
        assert as_user(people.stranger).get(f"/audits/{audit.pk}/loads/settings/").status_code == 404
