"""The mail that shows whether the settings work."""

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.utils import timezone

from advisor.mail.kit import message
from advisor.models import Site, User


def compose(site: Site, to: str, by: User) -> EmailMultiAlternatives:
    """Make it: who asked for it, and through which server it came."""
    context = {"site": site, "by": by, "at": timezone.now(), "address": settings.SITE_URL}
    return message("test", to, context, site)
