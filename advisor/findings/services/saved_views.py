"""Filters of the list that a person keeps under a name."""

from django.http import QueryDict

from advisor.accounts.models import User
from advisor.core.records import Refused
from advisor.findings.models import SavedView
from advisor.findings.services.listing import Filter
from advisor.uploads.services.uploads import clean_text

MOST_VIEWS = 30
"""Of one person: they stand in one row of the page (this project's figure)."""
LONGEST_NAME, LONGEST_QUERY = 80, 1000


def save(user: User, name: str, query: str) -> SavedView:
    """Keep a filter under a name; one of this name is replaced. Raises `Refused`."""
    name = clean_text(name, LONGEST_NAME).strip()
    if not name:
        raise Refused("Give the view a name.")
    others = user.saved_views.exclude(name=name)
    if others.count() >= MOST_VIEWS:
        raise Refused(f"You have {MOST_VIEWS} views: remove one first.")
    wanted = Filter.read(QueryDict(query[:5000]).dict()).query()
    if len(wanted) > LONGEST_QUERY:
        raise Refused("That filter is too long to be kept: search for fewer words.")
    return SavedView.objects.update_or_create(user=user, name=name, defaults={"query": wanted})[0]
