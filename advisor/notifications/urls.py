"""Every address of mail."""

from django.urls import path

from advisor.notifications.views import (
    by_link,
    mails,
    previews,
    recipients,
)

urlpatterns = [
    path("mail/", recipients.listing, name="letters"),
    path("mail/add/", recipients.add, name="letter-recipient-add"),
    path("mail/recipients/<int:pk>/", recipients.edit, name="letter-recipient"),
    path("mail/recipients/<int:pk>/stop/", recipients.stop, name="letter-recipient-stop"),
    path("mail/recipients/<int:pk>/resume/", recipients.resume, name="letter-recipient-resume"),
    path("mail/recipients/<int:pk>/remove/", recipients.remove, name="letter-recipient-remove"),
    path("mail/recipients/<int:pk>/preview/", previews.show, name="letter-preview"),
    path("mail/recipients/<int:pk>/preview/html/", previews.html, name="letter-preview-html"),
    path("mail/recipients/<int:pk>/test/", previews.test, name="letter-test"),
    path("mail/outbox/", mails.listing, name="outbox"),
    path("mail/outbox/try/", mails.try_now, name="outbox-try"),
    path("mail/outbox/<int:pk>/", mails.show, name="outbox-mail"),
    path("mail/outbox/<int:pk>/html/", mails.html, name="outbox-mail-html"),
    path("mail/outbox/<int:pk>/files/<int:number>/", mails.file, name="outbox-mail-file"),
    path("mail/outbox/<int:pk>/again/", mails.again, name="outbox-mail-again"),
    path("mail/outbox/<int:pk>/drop/", mails.drop, name="outbox-mail-drop"),
    path("mail/for/<str:token>/", by_link.settings, name="letter-settings"),
    path("mail/for/<str:token>/unsubscribe/", by_link.unsubscribe, name="letter-unsubscribe"),
    path("mail/for/<str:token>/resume/", by_link.resume, name="letter-resume"),
]
