"""Every address of the service."""

from django.urls import path

from advisor.api.urls import urlpatterns as api
from advisor.web import audit, compared, documents, errors, login, overview, rulebook, system, system_changes, upload
from advisor.web.administration.urls import urlpatterns as administration
from advisor.web.ase.urls import urlpatterns as ase
from advisor.web.letters.urls import urlpatterns as letters
from advisor.web.loads.urls import urlpatterns as loads
from advisor.web.openvms.urls import urlpatterns as openvms
from advisor.web.schedules.urls import urlpatterns as schedules
from advisor.web.sources.urls import urlpatterns as sources

handler400, handler403, handler404 = errors.bad_request, errors.forbidden, errors.not_found
handler500 = errors.broken

urlpatterns = [
    path("", overview.show, name="overview"),
    path("login/", login.log_in, name="login"),
    path("logout/", login.log_out, name="logout"),
    path("password/", login.change_password, name="password"),
    path("upload/", upload.bring, name="upload"),
    path("uploads/", upload.listing, name="uploads"),
    path("uploads/<int:pk>/", upload.show, name="upload-show"),
    path("uploads/<int:pk>/lines/", upload.lines, name="upload-lines"),
    path("uploads/<int:pk>/belongs/", upload.belongs, name="upload-belongs"),
    path("audits/<int:pk>/", audit.show, name="audit"),
    path("audits/<int:pk>/again/", audit.again, name="audit-again"),
    *ase,
    *openvms,
    *loads,
    path("audits/<int:pk>/<slug:name>.<slug:form>", audit.download, name="audit-download"),
    path("systems/<int:pk>/", system.show, name="system"),
    path("systems/<int:pk>/compare/", compared.show, name="compare"),
    path("systems/<int:pk>/compare/<slug:name>.<slug:form>", compared.download, name="compare-download"),
    path("systems/<int:pk>/notes/", system.add_note, name="system-note"),
    path("systems/<int:pk>/limits/", system.change_limit, name="system-limit"),
    path("systems/<int:pk>/expected/", system.change_expected, name="system-expected"),
    path("systems/<int:pk>/name/", system_changes.rename, name="system-rename"),
    path("systems/<int:pk>/former/", system_changes.let_go, name="system-former"),
    path("systems/<int:pk>/forget/", system_changes.forget, name="system-forget"),
    path("systems/<int:pk>/figures.csv", system.figures_csv, name="system-figures"),
    path("rules/", rulebook.contents, name="rulebook"),
    path("rules/documents/", documents.show, name="documents"),
    path("rules/<path:rule_id>/limits/", rulebook.change_limit, name="rule-limit"),
    path("rules/<path:rule_id>/", rulebook.show, name="rule"),
    *schedules,
    *sources,
    *letters,
    *administration,
    *api,
]
