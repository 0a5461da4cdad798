"""Every address of the administration."""

from django.urls import path

from advisor.accounts.views import account, teams, users
from advisor.audits.views import rulebook
from advisor.core import journal_views
from advisor.notifications.views import mails, webhooks
from advisor.operations.views import retention

urlpatterns = [
    path("administration/", users.listing, name="administration"),
    path("administration/users/add/", users.add, name="administration-user-add"),
    path("administration/users/<int:pk>/", users.edit, name="administration-user"),
    path("administration/users/<int:pk>/password/", users.set_password, name="administration-user-password"),
    path("administration/users/<int:pk>/unlock/", users.unlock, name="administration-user-unlock"),
    path("administration/teams/add/", teams.add, name="administration-team-add"),
    path("administration/teams/<int:pk>/", teams.edit, name="administration-team"),
    path("administration/teams/<int:pk>/delete/", teams.delete, name="administration-team-delete"),
    path("administration/mail/", mails.server, name="administration-mail"),
    path("administration/retention/", retention.show, name="administration-retention"),
    path("administration/retention/now/", retention.clear_up_now, name="administration-clear-up"),
    path("administration/limits/", rulebook.limits_listing, name="administration-limits"),
    path("administration/limits/<int:pk>/take-back/", rulebook.take_limit_back, name="administration-limit-take-back"),
    path("administration/journal/", journal_views.listing, name="administration-journal"),
    path("administration/journal.csv", journal_views.download, name="administration-journal-csv"),
    path("administration/tokens/", account.all_tokens, name="administration-tokens"),
    path("administration/tokens/<int:pk>/revoke/", account.take_any_back, name="administration-token-revoke"),
    path("administration/webhooks/", webhooks.listing, name="administration-webhooks"),
    path("administration/webhooks/add/<int:team_pk>/", webhooks.add, name="administration-webhook-add"),
    path("administration/webhooks/<int:pk>/", webhooks.edit, name="administration-webhook"),
    path("administration/webhooks/<int:pk>/pause/", webhooks.pause, name="administration-webhook-pause"),
    path("administration/webhooks/<int:pk>/delete/", webhooks.delete, name="administration-webhook-delete"),
    path("administration/webhooks/<int:pk>/secret/", webhooks.renew, name="administration-webhook-secret"),
    path("administration/webhooks/<int:pk>/test/", webhooks.ping, name="administration-webhook-test"),
    path(
        "administration/webhooks/<int:pk>/deliveries/<int:delivery_pk>/again/",
        webhooks.send_again,
        name="administration-delivery-again",
    ),
]
