"""One script for one system that collects what an audit still lacks, or the whole set for a first audit.

Plain data in, text out; no Django. A command of an audit is never copied into a script: it selects statements that
are written here or in `collectors/live/ase/questions.sql`, and what selects none is named in a comment, to be done by
hand.
"""

from collections.abc import Callable, Mapping

from advisor.audits.services.collect_script.ase import ase_script
from advisor.audits.services.collect_script.dcl import openvms_script, rdb_script
from advisor.audits.services.collect_script.request import (
    MOST_MINUTES,
    CollectScriptRequest,
    NotAnAudit,
    NothingToAsk,
    first_audit,
    requests_of,
)
from advisor.audits.services.collect_script.zvm import zvm_script

__all__ = [
    "MOST_MINUTES",
    "PRODUCTS",
    "CollectScriptRequest",
    "NotAnAudit",
    "NothingToAsk",
    "collect_script",
    "collect_scripts",
    "first_audit",
    "requests_of",
]
WRITERS: Mapping[str, Callable[[CollectScriptRequest], list[str]]] = {
    "ase": ase_script,
    "openvms": openvms_script,
    "rdb": rdb_script,
    "zvm": zvm_script,
}
PRODUCTS = tuple(WRITERS)
COMMENT = {"ase": "-- {}", "openvms": "$! {}", "rdb": "$! {}", "zvm": "/* {} */"}


def collect_script(request: CollectScriptRequest) -> str:
    """The script for one system."""
    return "\n".join(WRITERS[request.product](request)) + "\n"


def collect_scripts(requests: list[CollectScriptRequest]) -> str:
    """The scripts of several systems one after the other; more than one are parted by a line that says where to cut."""
    if len(requests) == 1:
        return collect_script(requests[0])
    parts = []
    for number, request in enumerate(requests, 1):
        cut = f"======== cut here: script {number} of {len(requests)} ========"
        parts.append(f"{COMMENT[request.product].format(cut)}\n{collect_script(request)}")
    return "\n".join(parts)
