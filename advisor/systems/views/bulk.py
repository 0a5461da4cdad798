"""Rename, merge or delete several systems at once, each with a preview."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from advisor.core.records import Refused
from advisor.core.views import Asked, numbers_of, page, refusal_told, workers_only
from advisor.systems.models import System
from advisor.systems.services import bulk


@workers_only
def change(request: Asked) -> HttpResponse:
    """Show what can be done with the systems that are chosen (`system`, many), or do it (`do`).

    Shown: `find` and `put` propose names, `into` is the system that the others would be merged into. Done: `rename`
    with `name-<number>` of each, `merge` with `into`, `delete` with `count`; `was-<number>` is the name that was shown.
    """
    given = request.POST if request.method == "POST" else request.GET
    with refusal_told(request, "Not shown: {}."):
        systems = bulk.chosen(request.user, numbers_of(given, "system"))
        if request.method == "POST":
            return _do(request, systems, len(set(given.getlist("system"))))
        return page(request, "systems/bulk.html", {"systems": systems, "most": bulk.MOST, **_preview(request, systems)})
    return redirect("overview")


def _preview(request: Asked, systems: Sequence[System]) -> dict[str, Any]:
    """What the address proposes: names by a pattern, and what merging would do."""
    find, put = request.GET.get("find", ""), request.GET.get("put", "")
    proposed = bulk.by_pattern(systems, find, put)
    into = next((one for one in systems if str(one.pk) == request.GET.get("into", "")), None)
    merged, refused = None, ""
    if into is not None:
        try:
            merged = bulk.merging(systems, into)
        except Refused as why:
            refused = str(why)
    return {
        "find": find,
        "put": put,
        "proposed": proposed,
        "problems": {one.system.pk: one.problem for one in bulk.looked_at(systems, proposed)},
        "one_kind": len({(one.team_id, one.product) for one in systems}) == 1,
        "merged": merged,
        "refused": refused,
    }


def _do(request: Asked, systems: list[System], given: int) -> HttpResponse:
    """Do what was asked for; what is refused leads back to the preview."""
    back = f"{reverse('systems-change')}?{urlencode([('system', one.pk) for one in systems])}"
    do, post = request.POST.get("do", ""), request.POST
    with refusal_told(request, "Nothing changed: {}."):
        if len(systems) != given or any(post.get(f"was-{one.pk}", one.name) != one.name for one in systems):
            raise Refused(bulk.GONE)
        if do == "rename":
            names = {one.pk: post[f"name-{one.pk}"] for one in systems if f"name-{one.pk}" in post}
            count = bulk.rename_several(systems, names, request.user, request=request)
            messages.success(request, f"{count} {'system is' if count == 1 else 'systems are'} renamed.")
        elif do == "merge":
            into = post.get("into", "")
            number = int(into) if into.isascii() and into.isdigit() and len(into) < 19 else 0
            stays = bulk.merge_several(systems, number, request.user, request=request)
            messages.success(request, f"{len(systems) - 1} merged into {stays.name}.")
            return redirect("system", stays.pk)
        elif do == "delete":
            count = bulk.delete_several(systems, post.get("count", ""), request.user, request=request)
            messages.success(
                request,
                f"{count} {'system is' if count == 1 else 'systems are'} deleted. The uploads are kept; read again, "
                "they make them anew.",
            )
        else:
            return redirect(back)
        return redirect("overview")
    return redirect(back)
