"""The rule book."""

from typing import Annotated, Any

from django.http import Http404
from ninja import Query, Router

from advisor.accounts.api_auth import Asked, needs
from advisor.audits.api.shapes import Rule, RuleBook
from advisor.audits.services.rulebook import rulebook
from advisor.core.api import ERRORS

router = Router(tags=["rules"])


@router.get("", auth=needs("read"), response={200: RuleBook, **ERRORS}, url_name="rules", summary="The rule book")
def listing(request: Asked, product: Annotated[str, Query(max_length=20)] = "") -> Any:
    """Give every rule as `rules/1`, or those of a product: what it finds, why, what to do, its limits and sources."""
    return {"contract": "rules/1", "rules": rulebook(product or None)}


@router.get("/{path:rule_id}", auth=needs("read"), response={200: Rule, **ERRORS}, url_name="rule", summary="A rule")
def show(request: Asked, rule_id: str) -> Any:
    """Give one rule."""
    found = next((entry for entry in rulebook(rule_id) if entry["rule"] == rule_id), None)
    if found is None:
        raise Http404
    return found
