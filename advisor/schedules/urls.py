"""Every address of schedules and groups."""

from django.urls import URLPattern, path

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
]
