"""Every address of findings: the list, one of them, and the plan over several systems."""

from django.urls import path

from advisor.findings.views import act, conclude, export, finding, listing, plan

urlpatterns = [
    path("findings/", listing.show, name="findings"),
    path("findings/act/", act.act, name="findings-act"),
    path("systems/<int:pk>/compare/conclude/", conclude.act, name="compare-conclude"),
    path("findings/findings.csv", export.as_csv, name="findings-csv"),
    path("findings/findings.xlsx", export.as_excel, name="findings-excel"),
    path("findings/views/", listing.keep, name="findings-view-save"),
    path("findings/views/<int:pk>/remove/", listing.let_go, name="findings-view-remove"),
    path("findings/<int:pk>/", finding.show, name="finding"),
    path("findings/<int:pk>/state/", finding.change_state, name="finding-state"),
    path("findings/<int:pk>/owner/", finding.change_owner, name="finding-owner"),
    path("findings/<int:pk>/limit/", finding.try_limit, name="finding-limit"),
    path("findings/<int:pk>/comment/", finding.add_comment, name="finding-comment"),
    path("plan/", plan.show, name="plan"),
    path("plan/run-sheet/", plan.sheets, name="plan-run-sheet"),
    path("plan/scripts.zip", plan.scripts, name="plan-scripts"),
]
