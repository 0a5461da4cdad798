"""SHOW of AUTHORIZE: working sets (pagelets of 512 bytes) and locks that a user's processes may have (SYSUAF).

Sample (as the chapter on AUTHORIZE of the OpenVMS System Management Utilities Reference Manual has it)::

    UAF> SHOW CRAMER

    Username: CRAMER                           Owner:  CRAMER
    Account:  ENG                              UIC:    [21,103] ([ENG,CRAMER])
    Prclm:           8  DIOlm:        40  WSdef:         2000
    Prio:            4  ASTlm:       200  WSquo:         4000
    Queprio:         4  TQElm:        10  WSextent:     16384
    CPU:        (none)  Enqlm:      2000  Pgflquo:      50000

Nothing else is kept: what a user may do is none of this project's business. SHOW/BRIEF has no working sets.
An extract below `UAF> SHOW user` has no line with the user's name: it is that of the command.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.facts import known
from collectors.facts.openvms import UserQuota
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

USER = re.compile(r"\s{0,4}Username:\s{1,8}(?P<user>[A-Z0-9$_]{1,32})\s{1,60}Owner:", re.IGNORECASE)
ASKED = re.compile(r"\s{0,4}UAF>\s{1,8}SHOW\s{1,8}(?P<user>[A-Z0-9$_]{1,32})\s*$", re.IGNORECASE)
"""Not one with a wildcard: whose the lines below it are, it does not tell."""
LOCKS = re.compile(r"\bEnqlm:\s{1,20}(?P<value>[0-9]{1,10}|\*{1,12})(?![0-9])", re.IGNORECASE)
QUOTA = re.compile(r"\bWS(?P<what>def|quo|extent):\s{1,20}(?P<value>[0-9]{1,10}|\*{1,12})(?![0-9])", re.IGNORECASE)
BESIDE = re.compile(
    r"\s{0,4}(?:UAF>|(?:Account|CLI|Default|LGICMD|Flags|Primary days|Secondary days|Primary|Secondary|Expiration"
    r"|Pwdlifetime|Last Login|Maxjobs|Maxacctjobs|Maxdetach|Prclm|Prio|Queprio|CPU|Network|Batch|Local|Dialup|Remote"
    r"|(?:Authorized|Default) Privileges):|No access restrictions\b|Identifier\s)"
    r"|\s{2}[A-Z_]{3,16}(?:\s{1,16}[A-Z_]{3,16}){0,5}\s*$",
    re.IGNORECASE,
)
"""The other lines of a record."""


@report(
    starts=re.compile(
        r"^\s{0,4}Username:\s{1,8}\S{1,32}\s{1,60}Owner:|^\s{0,4}UAF>\s{1,8}SHOW\s{1,8}[A-Z0-9$_]{1,32}\s*$", re.I
    ),
    provides=(UserQuota,),
)
def read(report: Report) -> Iterator[UserQuota]:
    """Yield one fact per user."""
    found: list[UserQuota] = []
    for index, line in enumerate(report.lines):
        line = line[:200].expandtabs()
        quotas, locks = QUOTA.findall(line), LOCKS.search(line)
        if user := USER.match(line) or ASKED.match(line):
            name = user["user"].upper()
            if not found or found[-1].user != name:
                found.append(UserQuota(source=report.source(index), user=name))
        elif quotas and found:
            one, values = found[-1], {what.lower(): reading(value) for what, value in quotas}
            found[-1] = replace(
                one,
                source=replace(one.source, last=report.source(index).first),
                ws_default=values.get("def", one.ws_default),
                ws_quota=values.get("quo", one.ws_quota),
                ws_extent=values.get("extent", one.ws_extent),
            )
        elif locks and found:
            one = found[-1]
            whole = replace(one.source, last=report.source(index).first)
            found[-1] = replace(one, source=whole, enqueue_limit=reading(locks["value"]))
        elif not BESIDE.match(line):
            continue
        report.claim(index)
    found = [one for one in found if one.source.last > one.source.first or known(one.enqueue_limit)]
    if not found:
        raise NotThisReport
    yield from found
