"""Every address of the views of an ASE capture."""

from django.urls import URLPattern, path

from advisor.ase import views

urlpatterns: list[URLPattern] = [
    path("audits/<int:pk>/waits/", views.waits, name="ase-waits"),
    path("audits/<int:pk>/waits/waits.csv", views.waits_csv, name="ase-waits-csv"),
    path("audits/<int:pk>/blocking/", views.blocking, name="ase-blocking"),
    path("audits/<int:pk>/statements/", views.statements, name="ase-statements"),
    path("audits/<int:pk>/statements/statements.csv", views.statements_csv, name="ase-statements-csv"),
    path("audits/<int:pk>/caches/", views.caches, name="ase-caches"),
    path("audits/<int:pk>/caches/caches.csv", views.caches_csv, name="ase-caches-csv"),
    path("audits/<int:pk>/spinlocks/", views.spinlocks, name="ase-spinlocks"),
    path("audits/<int:pk>/spinlocks/spinlocks.csv", views.spinlocks_csv, name="ase-spinlocks-csv"),
    path("audits/<int:pk>/what-if/", views.what_if, name="ase-what-if"),
]
