"""Every address of the views of an OpenVMS capture."""

from django.urls import URLPattern, path

from advisor.web.openvms import cluster, cpus, day, what_if

urlpatterns: list[URLPattern] = [
    path("audits/<int:pk>/cpus/", cpus.show, name="openvms-cpus"),
    path("audits/<int:pk>/cluster/", cluster.show, name="openvms-cluster"),
    path("audits/<int:pk>/cluster/cluster.csv", cluster.as_csv, name="openvms-cluster-csv"),
    path("audits/<int:pk>/day/", day.show, name="openvms-day"),
    path("audits/<int:pk>/lock-tables/", what_if.show, name="openvms-what-if"),
]
