"""The addresses of the list of findings, and of the plan over several systems."""

from django.urls import path

from advisor.findings.views import act, conclude, export, listing, plan, saved_views

urlpatterns = [
    path("findings/", listing.show, name="findings"),
    path("findings/act/", act.act, name="findings-act"),
    path("systems/<int:pk>/compare/conclude/", conclude.act, name="compare-conclude"),
    path("findings/findings.csv", export.as_csv, name="findings-csv"),
    path("findings/findings.xlsx", export.as_excel, name="findings-excel"),
    path("findings/views/", saved_views.save, name="findings-view-save"),
    path("findings/views/<int:pk>/remove/", saved_views.remove, name="findings-view-remove"),
    path("plan/", plan.show, name="plan"),
    path("plan/run-sheet/", plan.sheets, name="plan-run-sheet"),
    path("plan/scripts.zip", plan.scripts, name="plan-scripts"),
]
