"""The rule book: each rule with limits, examples and how often it fired here; limits that were set; documents."""

import functools
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from advisor.audits.models import Backtest, LimitSetting
from advisor.audits.services import backtest
from advisor.audits.services.documents import documents, platforms
from advisor.audits.services.examples import examples
from advisor.audits.services.limits import BadLimit, set_limit, take_back_limit
from advisor.audits.services.rulebook import judged_by, rulebook
from advisor.core.jinja import figure
from advisor.core.records import Refused
from advisor.core.views import (
    Asked,
    administrators_only,
    page,
    paged,
)
from advisor.systems.models import System
from advisor.systems.services.history import fired_now
from advisor.uploads.services.uploads import clean_text

Entry = dict[str, Any]


@functools.lru_cache(maxsize=8)
def entries_of(*products: str) -> tuple[Entry, ...]:
    """The rules of these products (of none: all), each limit with its figures in words. To read, never to change."""
    found = rulebook() if not products else [entry for product in products for entry in rulebook(product)]
    for entry in found:
        for one in entry["limits"]:
            one["name"] = f"{entry['rule']}.{one['limit']}"
            one["own"] = f"{figure(one['value'])} {one['unit'] or ''}".strip()
            one["may_be"] = f"{figure(one['low'])} " + (
                "or more" if one["high"] is None else f"to {figure(one['high'])}"
            )
            one["whose"] = one["origin"].split(":", 1)[0]
    return tuple(found)


class LimitForm(forms.Form):
    """One limit of the rules it is made with, its value, and why it is set."""

    name = forms.ChoiceField(error_messages={"invalid_choice": "None of these rules has such a limit."})
    value = forms.FloatField()
    why = forms.CharField(max_length=300, required=False)

    def __init__(self, entries: Sequence[Entry], data: Any = None) -> None:
        super().__init__(data)
        self.limits = {one["name"]: one for entry in entries for one in entry["limits"]}
        name = self.fields["name"]
        assert isinstance(name, forms.ChoiceField)  # noqa: S101 - it is, ten lines above
        name.choices = [(key, key) for key in self.limits]

    def clean_why(self) -> str:
        """One line of plain text."""
        return clean_text(self.cleaned_data["why"], 300)

    def clean(self) -> None:
        """Refuse what the rule does not take: a fraction for what is counted, it would cut off in silence."""
        name, value = self.cleaned_data.get("name"), self.cleaned_data.get("value")
        if not name or value is None:
            return
        one = self.limits[name]
        if isinstance(one["value"], int) and not value.is_integer():
            self.add_error("value", "This limit is a whole number.")
        elif value < one["low"] or (one["high"] is not None and value > one["high"]):
            unit = f" {one['unit']}" if one["unit"] else ""
            most = one["high"]
            allowed = f"{one['low']:g}{unit} or more" if most is None else f"from {one['low']:g} to {most:g}{unit}"
            said = f"below {one['low']:g}" if most is None else f"outside {one['low']:g} to {most:g}"
            self.add_error("value", f"{value:g} is {said}: this limit may be {allowed}.")

    def put(self, request: Asked, system: System | None) -> bool:
        """Set the limit and say so; a value the rule does not take becomes an error of the form."""
        if not self.is_valid():
            return False
        name, value = self.cleaned_data["name"], self.cleaned_data["value"]
        try:
            set_limit(name, value, request.user, system=system, why=self.cleaned_data["why"], request=request)
        except BadLimit as why:
            self.add_error("value", str(why))
            return False
        messages.success(request, f"{name} is {value:g} now. {renewed(system)}")
        return True

    def try_out(self, request: Asked, system: System | None) -> Backtest | None:
        """Have the value tried on stored captures first; what cannot be becomes an error of the form."""
        if not self.is_valid():
            return None
        told = self.cleaned_data
        try:
            return backtest.begin(request.user, told["name"], told["value"], system=system, why=told["why"])
        except (BadLimit, Refused) as why:
            self.add_error("value", str(why))
            return None


def renewed(system: System | None) -> str:
    """What a changed limit sets going."""
    if system is None:
        return "The newest capture of every system it concerns is being audited again."
    if system.latest_id is None:
        return "It counts from the first capture on."
    return "The newest capture is being audited again with it; the page shows that audit in a moment."


def take_back(request: Asked, name: str, system: System | None) -> None:
    """Go back to what counted before the limit was set, and say so."""
    name = clean_text(name, 160)
    if take_back_limit(name, request.user, system=system, request=request):
        before = "the rule's own" if system is None else "the site's or the rule's own"
        messages.success(request, f"{name} is taken back: {before} limit counts again. {renewed(system)}")
    else:
        messages.info(request, "This limit was not set.")


def contents(request: Asked) -> HttpResponse:
    """List the rules by product, or those that hold every word of `?q=`, with how many systems each fired at."""
    asked = request.GET.get("q", "")[:200]
    words = asked.lower().split()[:8]
    fired, systems = fired_now(request.user)
    products: dict[str, list[Entry]] = {}
    every = entries_of()
    for entry in every:
        text = " ".join((entry["rule"], entry["title"], entry["finds"], entry["do"])).lower()
        if all(word in text for word in words):
            products.setdefault(entry["rule"].split("/")[0], []).append({**entry, "at": fired.get(entry["rule"], [])})
    context = {"asked": asked, "products": products, "systems": systems, "count": len(every)}
    return page(request, "audits/rulebook.html", context)


def _entry(rule_id: str) -> Entry:
    """The rule of exactly this id."""
    found = next((entry for entry in entries_of() if entry["rule"] == rule_id), None)
    if found is None:
        raise Http404("no rule is called so")
    return found


def show(request: Asked, rule_id: str) -> HttpResponse:
    """Show one rule."""
    entry = _entry(rule_id)
    return _page(request, entry, LimitForm([entry]))


def _page(request: Asked, entry: Entry, form: LimitForm, status: int = 200) -> HttpResponse:
    fired, systems = fired_now(request.user, entry["rule"])
    product = entry["rule"].split("/")[0]
    judged = judged_by(product)
    context = {
        "entry": entry,
        "product": product,
        "examples": examples(entry["rule"]),
        "at": fired.get(entry["rule"], []),
        "systems": sum(count for one, count in systems.items() if judged is None or one in judged),
        "only": judged or (),
        "site": {
            one.name: one
            for one in LimitSetting.objects.filter(system=None, name__in=list(form.limits)).select_related("by")
        },
        "form": form,
    }
    return page(request, "audits/rule.html", context, status)


@require_POST
@administrators_only
def change_limit(request: Asked, rule_id: str) -> HttpResponse:
    """Set a limit of this rule for the whole site, try it first (`try`), or take it back (`take_back=<name>`)."""
    entry = _entry(rule_id)
    form = LimitForm([entry], request.POST)
    name = request.POST.get("take_back", "")
    if name in form.limits:
        take_back(request, name, None)
    elif "try" in request.POST:
        tried = form.try_out(request, None)
        return redirect("backtest", tried.pk) if tried else _page(request, entry, form, 400)
    elif not form.put(request, None):
        return _page(request, entry, form, 400)
    return redirect("rule", rule_id=rule_id)


def documents_page(request: Asked) -> HttpResponse:
    """List them, document by document, and the comparison of platforms below."""
    found = documents()
    entries = [entry for one in found for entry in one["entries"]]
    context = {
        "documents": found,
        "count": len(entries),
        "missing": sum(entry["figures_missing"] for entry in entries),
        "slips": sum(entry["slip"] is not None for entry in entries),
        "platforms": platforms(),
    }
    return page(request, "audits/documents.html", context)


@administrators_only
def limits_listing(request: Asked) -> HttpResponse:
    """List them beside the rules' own: the site's first, then by system."""
    own = {f"{one['rule']}.{limit['limit']}": (one["rule"], limit) for one in rulebook() for limit in one["limits"]}
    settings = LimitSetting.objects.select_related("system__team", "by").order_by("name", "system__name", "pk")
    some = paged(request, settings)
    rows: list[dict[str, Any]] = []
    for setting in some:
        rule, limit = own.get(setting.name, (None, None))
        rows.append({"setting": setting, "rule": rule, "limit": limit})
    return page(request, "audits/all_limits.html", {"rows": rows, "some": some})


@administrators_only
@require_POST
def take_limit_back(request: Asked, pk: int) -> HttpResponse:
    """Go back to the rule's own limit, or for a system to the site's."""
    setting = get_object_or_404(LimitSetting, pk=pk)
    take_back_limit(setting.name, request.user, system=setting.system, request=request)
    messages.success(request, f"{setting.name} is taken back; the audits it concerns are made again.")
    return redirect("administration-limits")
