"""A load series as the contract's JSON and as text: its law, its shape, its peak, the modes beside its points."""

import json
from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.report.render import render
from advisor.notifications.mail.report import law_words
from collectors.facts import Capture, Facts, Interval, Source, System
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.audit import audit
from rules.laws.usl import law

CAPPED = tuple((load, law(0, 0.24, 3e5, load, 4)) for load in (1, 2, 3, 4, 5, 6, 9))


def made(title: str, points: tuple[tuple[float, float], ...], **fields: Any) -> LoadSeries:
    runs = tuple(
        LoadPoint(load=load, rate=rate, line=at, others=(("mp_synch_percent", 30.0 * load),))
        for at, (load, rate) in enumerate(points, start=2)
    )
    return LoadSeries(
        source=Source(f"{title}.csv", 1, 1 + len(points)),
        title=title,
        load_name="processes",
        rate_name="lock_operations_per_second",
        points=runs,
        **fields,
    )


def data_of(*series: LoadSeries) -> dict[str, Any]:
    capture = Capture(System("LEWIS", "openvms"), Interval(), Facts(series))
    data = audit_data([], [audit(capture)])
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def models_of(*series: LoadSeries) -> list[dict[str, Any]]:
    (capture,) = data_of(*series)["captures"]
    models: list[dict[str, Any]] = capture["models"]
    return models


def test_a_capped_law_says_so_and_brings_the_one_that_did_not_fit() -> None:
    (model,) = models_of(made("LEWIS four cores", CAPPED, cores=4, clock_mhz=1590.0))
    told = ("law", "shape", "cap", "usable", "title", "lines", "clock_mhz", "cores", "derived", "best_load")
    assert [model[key] for key in told] == [
        *("usl-capped", "retrograde", 4, True, "LEWIS four cores", [1, 8], 1590, 4, False, 2),
    ]
    assert (model["harm_from"], model["why_not"], model["at_one_clock"]) == (2, None, [])
    assert model["beta"] == pytest.approx(0.24)
    assert set(model["errors"]) == {"alpha", "beta", "gamma"}
    assert model["first_law"]["law"] == "usl"
    assert model["first_law"]["why_not"].startswith("poor fit")
    assert model["first_law"]["cap"] is None
    assert "capped at the 4 processors" in model["remarks"][0]
    assert model["modes"][1] == {"mp_synch": 60}
    assert len(model["modes"]) == len(model["points"]) == 7


def test_what_no_law_is_fitted_to_has_no_figures_and_no_shape() -> None:
    (model,) = models_of(made("two", ((1, 100.0), (2, 180.0))))
    empty = ("alpha", "beta", "gamma", "r2", "errors", "shape", "peak_load", "limit", "best_load", "harm_from")
    assert [model[key] for key in empty] == [None] * len(empty)
    assert (model["usable"], model["first_law"], model["points"]) == (False, None, [[1, 100.0], [2, 180.0]])


def test_machines_of_two_clocks_are_held_against_each_other_in_one_of_them() -> None:
    slow = made("ES40 500", ((1, 100.0), (2, 180.0)), clock_mhz=500.0)
    fast = made("ES40 666", ((1, 120.0), (2, 205.0)), clock_mhz=666.0)
    first, second = models_of(slow, fast)
    assert first["at_one_clock"] == []
    (one,) = second["at_one_clock"]
    assert (one["title"], one["from_mhz"], one["to_mhz"], one["more_per_cycle"]) == ("ES40 500", 500, 666, "ES40 500")
    assert one["loads"][0] == pytest.approx([1, 120, 133.2, 1.11])


def test_the_text_names_the_shape_the_peak_and_where_adding_does_harm() -> None:
    said = " ".join(render("audit", data_of(made("LEWIS four cores", CAPPED, cores=4)), "txt").split())
    assert "LEWIS four cores (LEWIS four cores.csv): Universal Scalability Law, load capped at 4 (retrograde)" in said
    assert "Adding does harm beyond 2 processes (by the law). The law did not fit (R² 0." in said


def test_a_derived_series_is_not_said_to_prove_harm() -> None:
    runs = ((3, 416.0), (9, 270.0), (16, 248.0))
    points = tuple(LoadPoint(load=n, rate=rate, others=(("busy_percent", 98.0),)) for n, rate in runs)
    table = LoadSeries(
        title="runs", load_name="processors", rate_name="tps", points=points, product="zvm", derived=True
    )
    said = " ".join(render("audit", data_of(table), "txt").split())
    assert "More than 3 processors did less, and the processors were busy." in said
    assert "whether all ran on one machine" in said
    assert "does harm" not in said
    (model,) = models_of(table)
    usable = {**model, "usable": True, "why_not": None, "gamma": 1.0, "alpha": 0.1, "beta": 0.1, "r2": 0.99}
    assert "more than 3 processors did less" in law_words(usable)


def test_the_text_of_an_audit_stored_before_these_fields_still_renders() -> None:
    data = data_of(made("LEWIS four cores", CAPPED, cores=4))
    (model,) = data["captures"][0]["models"]
    old = {"law", "alpha", "beta", "gamma", "r2", "peak_load", "peak_rate", "file", "usable", "why_not", "load_name"}
    data["captures"][0]["models"] = [{key: model[key] for key in (*old, "rate_name", "points")}]
    said = " ".join(render("audit", data, "txt").split())
    assert "LEWIS four cores.csv: Universal Scalability Law, contention" in said
    assert "harm" not in said.split("LOAD SERIES")[1]


def test_machines_of_two_models_are_held_against_each_other_as_measured() -> None:
    first, second = models_of(
        made("ES40 666", ((1, 100.0), (2, 180.0)), clock_mhz=666.0),
        made("rx6600", ((1, 150.0), (2, 270.0)), clock_mhz=1590.0),
    )
    assert (first["at_one_clock"], second["at_one_clock"], second["as_measured"]) == ([], [], [])
    (one,) = first["as_measured"]
    assert (one["title"], one["against"], one["loads"]) == (
        "rx6600",
        "ES40 666",
        [[1, 100, 150, 1.5], [2, 180, 270, 1.5]],
    )
    assert "not scaled by the clock" in one["says"]


def test_a_rate_that_stands_alone_is_told_beside_the_law() -> None:
    (model,) = models_of(made("box", ((1, 100.0), (2, 190.0), (3, 4294.0), (4, 340.0))))
    assert model["remarks"][0].startswith("4,294 at 3 stands alone above what the neighbouring loads allow")
