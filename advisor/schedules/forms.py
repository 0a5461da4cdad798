"""The forms of a schedule and of a group. What a schedule may be `services.schedules` says."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django import forms
from django.conf import settings

from advisor.accounts.models import Team
from advisor.audits.report.render import PRODUCT_NAMES
from advisor.core.records import Refused
from advisor.schedules.models import Schedule
from advisor.schedules.services import collecting, peak, timing
from advisor.schedules.services.schedules import ScheduleSpec
from advisor.systems.forms import SystemsField
from advisor.systems.models import Group, System

EVERY, CRON = "every", "cron"
AT_PEAK = tuple((period, f"at {words} that the history shows") for period, words in peak.PERIODS.items())
SETTLE_SECONDS = 60
EXPORTS = "exports"
"""The choice of no system: whatever the exports name."""
BESIDE = {"system": "what", "group": "what", "peak": "when"}
"""Fields of the service, and what shows them here."""
Choices = list[tuple[str, str | list[tuple[str, str]]]]


@cache
def zones() -> list[tuple[str, str]]:
    """Every time zone by its name, that of the site and UTC first; without aliases of other kinds (`Etc/…`)."""
    first = list(dict.fromkeys((settings.TIME_ZONE, "UTC")))
    cities = sorted(name for name in timing.zones() if "/" in name and not name.startswith("Etc/"))
    return [(name, name) for name in (*first, *(name for name in cities if name not in first))]


class ScheduleForm(forms.Form):
    """A schedule of one team."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    what = forms.ChoiceField(label="For", help_text="A collector needs a system or a group: it asks each of them.")
    source = forms.ChoiceField(
        choices=Schedule.Source.choices,
        widget=forms.RadioSelect,
        initial=Schedule.Source.FOLDER,
        label="Exports come from",
    )
    folder = forms.CharField(max_length=500, required=False, label="Path")
    settle_seconds = forms.IntegerField(
        min_value=1,
        max_value=3600,
        initial=SETTLE_SECONDS,
        required=False,
        label="A file is taken when it has not changed for so many seconds",
        help_text="1 to 3600. A file that is still being copied changes meanwhile.",
    )
    after = forms.ChoiceField(choices=Schedule.After.choices, required=False, label="A file that was taken")
    collector = forms.ChoiceField(required=False)
    when = forms.ChoiceField(
        choices=[(EVERY, "every so many minutes"), (CRON, "at fixed times (cron)"), *AT_PEAK],
        widget=forms.RadioSelect,
        initial=EVERY,
        label="It is due",
    )
    every_minutes = forms.IntegerField(
        min_value=1,
        max_value=525_600,
        initial=60,
        required=False,
        label="Every so many minutes",
        help_text="Also what a schedule at the busiest hour goes by as long as the history does not show that hour.",
    )
    cron = forms.CharField(
        max_length=100,
        required=False,
        label="Cron",
        help_text="Minute, hour, day, month, weekday: 0 6 * * mon-fri is 06:00 on working days.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    zone = forms.ChoiceField(choices=zones, initial=settings.TIME_ZONE, label="Time zone")
    blackouts = forms.CharField(
        required=False,
        max_length=4000,
        strip=False,
        label="Blackout windows",
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )

    def __init__(self, data: Any, *, team: Team, schedule: Schedule | None = None, what: str = EXPORTS) -> None:
        """Offer what the team has; `what` stands chosen in a new one."""
        super().__init__(data, initial=_initial(schedule) if schedule else {"what": what})
        self.team = team
        self.fields["what"].choices = _targets(team)  # type: ignore[attr-defined]
        offered = [(one.name, one.title) for one in collecting.offered()]
        if schedule and schedule.collector and schedule.collector not in dict(offered):
            offered.append((schedule.collector, f"{schedule.collector} (not registered any more)"))
        self.fields["collector"].choices = offered or [("", "none is registered")]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """What goes together."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("when") not in (CRON, None) and "every_minutes" in given and not given["every_minutes"]:
            self.add_error("every_minutes", "Say after how many minutes it is due again.")
        if given.get("when") == CRON and "cron" in given and not given["cron"]:
            self.add_error("cron", "Write five fields: minute, hour, day, month, weekday.")
        return given

    def wish(self) -> ScheduleSpec:
        """What was said, once it is valid."""
        given = self.cleaned_data
        kind, _, number = given["what"].partition(":")
        from_folder, every = given["source"] == Schedule.Source.FOLDER, given["when"] != CRON
        return ScheduleSpec(
            name=given["name"],
            source=given["source"],
            system=System.objects.get(team=self.team, pk=number) if kind == "system" else None,
            group=Group.objects.get(team=self.team, pk=number) if kind == "group" else None,
            folder=given["folder"] if from_folder else "",
            after=(given["after"] or Schedule.After.LEAVE) if from_folder else Schedule.After.LEAVE,
            settle_seconds=given["settle_seconds"] or SETTLE_SECONDS,
            collector="" if from_folder else given["collector"],
            every_minutes=given["every_minutes"] if every else None,
            cron="" if every else given["cron"],
            zone=given["zone"],
            blackouts=given["blackouts"],
            peak=given["when"] if given["when"] in peak.PERIODS else "",
        )

    @contextmanager
    def refusal_shown(self) -> Iterator[None]:
        """Show what the service refuses beside the field it is about, and go on behind the block."""
        try:
            yield
        except Refused as why:
            field, said = BESIDE.get(why.field, why.field), str(why)
            self.add_error(field if field in self.fields else None, f"{said[:1].upper()}{said[1:]}.")


def _initial(schedule: Schedule) -> dict[str, Any]:
    columns = ("name", "source", "folder", "settle_seconds", "after", "collector", "cron", "zone", "blackouts")
    what = EXPORTS
    if schedule.system_id:
        what = f"system:{schedule.system_id}"
    elif schedule.group_id:
        what = f"group:{schedule.group_id}"
    found = {name: getattr(schedule, name) for name in columns}
    if schedule.peak:
        return {
            **found,
            "what": what,
            "when": schedule.peak,
            "cron": "",
            "every_minutes": schedule.peak_otherwise or "",
        }
    when = CRON if schedule.cron else EVERY
    return {**found, "what": what, "when": when, "every_minutes": schedule.every_minutes or ""}


def _targets(team: Team) -> Choices:
    groups = [(f"group:{pk}", name) for pk, name in team.groups.values_list("pk", "name")]
    systems = [
        (f"system:{pk}", f"{name} ({PRODUCT_NAMES.get(product, product)})")
        for pk, name, product in team.systems.values_list("pk", "name", "product")
    ]
    found: Choices = [(EXPORTS, "whatever the exports name (drop folder)")]
    return [*found, *([("Groups", groups)] if groups else []), *([("Systems", systems)] if systems else [])]


class GroupForm(forms.Form):
    """A group of systems of one team."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    systems = SystemsField(System.objects.none(), required=False)

    def __init__(self, data: Any, *, team: Team, group: Group | None = None) -> None:
        """Offer the systems of the team."""
        held = {"name": group.name, "systems": list(group.systems.values_list("pk", flat=True))} if group else {}
        super().__init__(data, initial=held)
        self.fields["systems"].queryset = team.systems.only("name", "product", "team")  # type: ignore[attr-defined]
