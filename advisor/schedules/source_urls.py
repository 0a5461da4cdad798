"""Every address of data sources."""

from django.urls import URLPattern, path

from advisor.schedules.source_views import changing, listing, one

urlpatterns: list[URLPattern] = [
    path("sources/", listing.show, name="sources"),
    path("sources/new/", changing.add, name="source-new"),
    path("sources/<int:pk>/", one.show, name="source"),
    path("sources/<int:pk>/change/", changing.change, name="source-change"),
    path("sources/<int:pk>/try/", one.try_it, name="source-try"),
    path("sources/<int:pk>/take-on/", one.take_on, name="source-take-on"),
    path("sources/<int:pk>/remove/", one.remove, name="source-remove"),
    path("systems/<int:pk>/collect/", one.collect_now, name="system-collect"),
]
