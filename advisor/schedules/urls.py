"""Every address of schedules, groups and data sources."""

from django.urls import URLPattern, path

from advisor.schedules.source_views import changing as source_changing
from advisor.schedules.source_views import listing as source_listing
from advisor.schedules.source_views import one as source_one
from advisor.schedules.views import changing, listing, one
from advisor.systems.views import groups

urlpatterns: list[URLPattern] = [
    path("schedules/", listing.show, name="schedules"),
    path("schedules/new/", changing.add, name="schedule-new"),
    path("schedules/times/", changing.times, name="schedule-times"),
    path("schedules/<int:pk>/", one.show, name="schedule"),
    path("schedules/<int:pk>/change/", changing.change, name="schedule-change"),
    path("schedules/<int:pk>/run/", one.run_now, name="schedule-run"),
    path("schedules/<int:pk>/pause/", one.pause, name="schedule-pause"),
    path("schedules/<int:pk>/resume/", one.resume, name="schedule-resume"),
    path("schedules/<int:pk>/delete/", one.delete, name="schedule-delete"),
    path("groups/", groups.listing, name="groups"),
    path("groups/new/", groups.add, name="group-new"),
    path("groups/<int:pk>/", groups.show, name="group"),
    path("groups/<int:pk>/delete/", groups.delete, name="group-delete"),
    path("sources/", source_listing.show, name="sources"),
    path("sources/new/", source_changing.add, name="source-new"),
    path("sources/<int:pk>/", source_one.show, name="source"),
    path("sources/<int:pk>/change/", source_changing.change, name="source-change"),
    path("sources/<int:pk>/try/", source_one.try_it, name="source-try"),
    path("sources/<int:pk>/take-on/", source_one.take_on, name="source-take-on"),
    path("sources/<int:pk>/remove/", source_one.remove, name="source-remove"),
    path("systems/<int:pk>/collect/", source_one.collect_now, name="system-collect"),
]
