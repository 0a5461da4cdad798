"""Every address of the views of load series."""

from django.urls import URLPattern, path

from advisor.web.loads import capture, system

urlpatterns: list[URLPattern] = [
    path("audits/<int:pk>/loads/", capture.show, name="loads"),
    path("audits/<int:pk>/loads/loads.csv", capture.as_csv, name="loads-csv"),
    path("systems/<int:pk>/loads/", system.show, name="system-loads"),
]
