"""The mail of the fleet benchmark: one recipient of what changes, and a server that takes everything."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from tests.bench.fleet_figures import spread
from tests.servers import HOST, free_port

PATIENCE = 1800.0


@dataclass
class Taken:
    """What came."""

    count: int = 0
    size: int = 0

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        """Take it."""
        self.count += 1
        self.size += len(envelope.content or b"")
        return "250 2.0.0 taken"


@contextmanager
def receiving() -> Iterator[Taken]:
    """Be the site's mail server, and have all of the fleet told to one DBA: warnings and worse, where they change."""
    from advisor.accounts.models import Team, User
    from advisor.core.models import Site
    from advisor.notifications.models import Recipient
    from advisor.notifications.services.recipients import make
    from advisor.operations.seeding.captures import EVERYWHERE
    from advisor.operations.seeding.fleet import TEAM

    taken = Taken()
    server = Controller(taken, hostname=HOST, port=free_port())
    server.start()
    site = Site.get()
    site.mail_host, site.mail_port, site.mail_from = HOST, server.port, "lockwright@example.org"
    site.save()
    told = Recipient(team=Team.objects.get(name=TEAM), address="dba@example.org", digest=True)
    make(told, User.objects.get(username=EVERYWHERE))
    try:
        yield taken
    finally:
        server.stop()


def all_sent() -> str:
    """Wait until every audit is told and every mail is sent; says how long after its audit the last one was."""
    from django.db.models import F

    from advisor.audits.models import Audit
    from advisor.notifications.models import Mail
    from advisor.systems.models import System

    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        time.sleep(0.5)
        told = System.objects.filter(told__audit=F("latest")).count()
        if told == System.objects.count() and not Mail.objects.exclude(state=Mail.State.DONE).exists():
            break
    sent = [
        (mail.finished - mail.audit.at).total_seconds()
        for mail in Mail.objects.select_related("audit")
        if mail.finished and mail.audit
    ]
    last = max((mail.finished for mail in Mail.objects.all() if mail.finished), default=None)
    audited = Audit.objects.order_by("-at").values_list("at", flat=True)[0]
    after = max(0.0, (last - audited).total_seconds()) if last else 0.0
    return f"seconds from audit to sent: {spread(sent)}; the last {after:.1f} s after the last audit"
