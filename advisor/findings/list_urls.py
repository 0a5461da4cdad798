"""The addresses of the list of findings."""

from django.urls import path

from advisor.findings.views import listing

urlpatterns = [
    path("findings/", listing.show, name="findings"),
]
