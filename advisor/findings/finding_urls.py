"""The addresses of a finding."""

from django.urls import path

from advisor.findings.views import finding

urlpatterns = [
    path("findings/<int:pk>/", finding.show, name="finding"),
    path("findings/<int:pk>/state/", finding.change_state, name="finding-state"),
    path("findings/<int:pk>/owner/", finding.change_owner, name="finding-owner"),
    path("findings/<int:pk>/limit/", finding.try_limit, name="finding-limit"),
    path("findings/<int:pk>/comment/", finding.add_comment, name="finding-comment"),
]
