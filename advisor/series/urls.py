"""Every address of the views of load series."""

from django.urls import URLPattern, path

from advisor.series import views

urlpatterns: list[URLPattern] = [
    path("audits/<int:pk>/loads/", views.capture, name="loads"),
    path("audits/<int:pk>/loads/settings/", views.settings, name="load-settings"),
    path("audits/<int:pk>/loads/loads.csv", views.capture_csv, name="loads-csv"),
    path("systems/<int:pk>/loads/", views.system, name="system-loads"),
]
