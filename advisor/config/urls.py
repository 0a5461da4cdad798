"""Every address of the service."""

from django.urls import path

from advisor.accounts.views import login
from advisor.ase.urls import urlpatterns as ase
from advisor.audits.views import audit, backtest, compared, rulebook
from advisor.config.administration import urlpatterns as administration
from advisor.config.api import urlpatterns as api
from advisor.core import error_pages
from advisor.findings.urls import urlpatterns as findings
from advisor.notifications.urls import urlpatterns as notifications
from advisor.openvms.urls import urlpatterns as openvms
from advisor.schedules.urls import urlpatterns as schedules
from advisor.series.urls import urlpatterns as loads
from advisor.systems.views import bulk, changes, overview, system
from advisor.uploads import views

handler400, handler403, handler404 = error_pages.bad_request, error_pages.forbidden, error_pages.not_found
handler500 = error_pages.broken

urlpatterns = [
    path("", overview.show, name="overview"),
    path("login/", login.log_in, name="login"),
    path("logout/", login.log_out, name="logout"),
    path("password/", login.change_password, name="password"),
    path("upload/", views.bring, name="upload"),
    path("uploads/", views.listing, name="uploads"),
    path("uploads/reading/", views.reading, name="uploads-reading"),
    path("examples/", views.bring_examples, name="examples"),
    path("examples/remove/", views.remove_examples, name="examples-remove"),
    path("uploads/<int:pk>/", views.show, name="upload-show"),
    path("uploads/<int:pk>/lines/", views.lines, name="upload-lines"),
    path("uploads/<int:pk>/belongs/", views.belongs, name="upload-belongs"),
    path("audits/<int:pk>/", audit.show, name="audit"),
    path("audits/<int:pk>/run-sheet/", audit.sheet, name="run-sheet"),
    path("audits/<int:pk>/pdf/", audit.wait_for_pdf, name="audit-pdf"),
    path("audits/<int:pk>/again/", audit.again, name="audit-again"),
    *findings,
    *ase,
    *openvms,
    *loads,
    path("audits/<int:pk>/<slug:name>.<slug:form>", audit.download, name="audit-download"),
    path("systems/change/", bulk.change, name="systems-change"),
    path("systems/<int:pk>/", system.show, name="system"),
    path("systems/<int:pk>/renewing/", system.renewing, name="system-renewing"),
    path("systems/<int:pk>/compare/", compared.show, name="compare"),
    path("systems/<int:pk>/compare/<slug:name>.<slug:form>", compared.download, name="compare-download"),
    path("systems/<int:pk>/notes/", system.add_note, name="system-note"),
    path("systems/<int:pk>/limits/", system.change_limit, name="system-limit"),
    path("systems/<int:pk>/expected/", system.change_expected, name="system-expected"),
    path("systems/<int:pk>/snooze/", system.change_snooze, name="system-snooze"),
    path("systems/<int:pk>/name/", changes.rename, name="system-rename"),
    path("systems/<int:pk>/former/", changes.let_go, name="system-former"),
    path("systems/<int:pk>/forget/", changes.forget, name="system-forget"),
    path("systems/<int:pk>/figures.csv", system.figures_csv, name="system-figures"),
    path("limits/tried/<int:pk>/", backtest.show, name="backtest"),
    path("limits/tried/<int:pk>/save/", backtest.save, name="backtest-save"),
    path("limits/tried/<int:pk>/undo/", backtest.undo, name="backtest-undo"),
    path("rules/", rulebook.contents, name="rulebook"),
    path("rules/documents/", rulebook.documents_page, name="documents"),
    path("rules/<path:rule_id>/limits/", rulebook.change_limit, name="rule-limit"),
    path("rules/<path:rule_id>/", rulebook.show, name="rule"),
    *schedules,
    *notifications,
    *administration,
    *api,
]
