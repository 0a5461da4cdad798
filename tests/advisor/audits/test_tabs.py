"""The head of the pages of a capture leads to the views that have something to show of it, and to no others."""

from django.urls import reverse

from advisor.audits.models import Audit, Capture
from advisor.audits.services.tabs import TABS, tabs_of
from tests.advisor.people import AsUser, People, text_of


def heads(page: str) -> str:
    return page.split('aria-label="Views of this capture"')[1].split("</nav>")[0]


def test_an_audit_notes_which_facts_its_capture_has(storm_audit: Audit) -> None:
    storm_audit.capture.refresh_from_db()
    kinds = storm_audit.capture.kinds or []
    assert "ase.LockHashtable" in kinds
    assert sorted(set(kinds)) == kinds


def test_a_view_with_nothing_to_show_has_no_tab(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    Capture.objects.filter(pk=storm_audit.capture_id).update(kinds=["ase.MonSpinlockActivity"])
    tabs = heads(text_of(as_user(people.owner), f"/audits/{storm_audit.pk}/"))
    assert "Spinlocks" in tabs
    assert "Cache map" not in tabs
    at_it = heads(text_of(as_user(people.owner), reverse("ase-caches", args=[storm_audit.pk])))
    assert 'aria-current="page">Cache map' in at_it, "who came by its address sees where he is"


def test_of_a_capture_kept_before_kinds_were_noted_all_views_are_shown(storm_audit: Audit) -> None:
    storm_audit.capture.kinds = None
    assert tabs_of(storm_audit.capture, "ase") == list(TABS["ase"])
    assert tabs_of(storm_audit.capture, "zvm") == []


def test_every_tab_has_an_address() -> None:
    for tabs in TABS.values():
        for tab in tabs:
            assert reverse(tab.name, args=[1])
            assert tab.shows
