"""Every address of the views of an OpenVMS capture."""

from django.urls import URLPattern, path

from advisor.openvms import views

urlpatterns: list[URLPattern] = [
    path("audits/<int:pk>/cpus/", views.cpus, name="openvms-cpus"),
    path("audits/<int:pk>/cluster/", views.cluster, name="openvms-cluster"),
    path("audits/<int:pk>/cluster/cluster.csv", views.cluster_csv, name="openvms-cluster-csv"),
    path("audits/<int:pk>/cluster/scripts.zip", views.cluster_scripts, name="openvms-cluster-scripts"),
    path("audits/<int:pk>/lock-trees/", views.lock_trees, name="openvms-lock-trees"),
    path("audits/<int:pk>/lock-trees/lock-trees.csv", views.lock_trees_csv, name="openvms-lock-trees-csv"),
    path("audits/<int:pk>/day/", views.day, name="openvms-day"),
    path("audits/<int:pk>/lock-tables/", views.what_if, name="openvms-what-if"),
]
