"""Every address of the views of an ASE capture."""

from django.urls import URLPattern, path

from advisor.web.ase import caches, spinlocks, what_if

urlpatterns: list[URLPattern] = [
    path("audits/<int:pk>/caches/", caches.show, name="ase-caches"),
    path("audits/<int:pk>/caches/caches.csv", caches.as_csv, name="ase-caches-csv"),
    path("audits/<int:pk>/spinlocks/", spinlocks.show, name="ase-spinlocks"),
    path("audits/<int:pk>/spinlocks/spinlocks.csv", spinlocks.as_csv, name="ase-spinlocks-csv"),
    path("audits/<int:pk>/what-if/", what_if.show, name="ase-what-if"),
]
