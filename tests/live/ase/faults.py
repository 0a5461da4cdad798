"""What can be wrong with the server on purpose. Each fault has a name, and some a value behind `=`.

Seconds count from the start of the server, in its own time (see `tests.live.ase.clock`).
"""

from collections.abc import Iterable, Mapping

KNOWN = {
    "silent-accept": "takes the connection and says nothing, not even to the login",
    "silent-login": "takes the login and then says nothing to any batch",
    "drop-after-rows": "N: cuts the line after N rows of every answer that is as long",
    "drop-in-table": "TABLE: cuts the line after the first row of an answer from this table",
    "missing-table": "TABLE: Msg 208, as on a server without installmontables",
    "missing-procedure": "PROCEDURE: Msg 2812",
    "deadlock": "TABLE: the first answer from it ends in Msg 1205 after its rows; the next one does not",
    "deadlock-always": "TABLE: each answer from it ends in Msg 1205 after its rows",
    "slow": "TABLE: the answer takes `slow-seconds` (of our clock, 30); a cancel ends it",
    "slow-seconds": "seconds for `slow`",
    "deaf": "TABLE: never answers, and takes no cancel",
    "no-mon-role": "the login has no mon_role: Msg 10353 from each monitoring table",
    "no-sa-role": "the login has no sa_role: Msg 10353 from what needs it",
    "no-sso-role": "the login has no sso_role",
    "monitoring-off": "`enable monitoring` is 0: the monitoring tables are empty",
    "switch-off": "PARAMETER: this switch is 0, and the tables that need it are empty",
    "refuse-database": "DATABASE: the login is no user of it: Msg 916",
    "offline-database": "DATABASE: it is offline: Msg 950",
    "locked-catalog": "DATABASE: DDL that is not committed locks its catalogs: readers wait, by `set lock wait`",
    "renamed": "NAME: what the server calls itself (`renamed=` alone: it has no name)",
    "version": "TEXT: what stands in @@version in place of the release's own",
    "engines": "N: so many engines are on line",
    "deaf-after": "N: after so many batches on all lines it answers none any more, and takes no cancel",
    "crowded": "N: each activity table begins with N more rows of objects that are open and were never used",
    "nulls": "each value of the monitoring tables that is no part of a row's name is NULL (`nulls=all`: these too)",
    "restarted": "SECONDS: the server is restarted then; the line holds, @@boottime and all counters start anew",
    "cleared": "SECONDS: somebody clears the counters then (sp_sysmon), and monState says so",
    "wrap": "SECONDS: each int counter of the monitoring tables passes 2^31 then, and starts at 0",
    "wrap-signed": "SECONDS: each int counter passes 2^32 then; above 2^31 it is shown negative",
    "vanish": "SECONDS: the hottest table's row is gone then, and comes back as long after with new counts",
    "without-rsa": "the server ignores the wish for an encrypted password and refuses the login",
    "locked-login": "Msg 4002 whatever the password",
}
"""The faults there are, each with what it does."""


class Faults:
    """The faults of one server. A fault may be there several times, with several values."""

    def __init__(self, given: Iterable[str] = ()) -> None:
        """Take `name` or `name=value`. Raises `ValueError` for a name nobody knows."""
        found: dict[str, list[str]] = {}
        for one in given:
            name, _, value = one.partition("=")
            if name not in KNOWN:
                raise ValueError(f"there is no fault {name!r}: {', '.join(KNOWN)}")
            found.setdefault(name, []).append(value)
        self._found: Mapping[str, list[str]] = found

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def has(self, name: str, value: str) -> bool:
        """Whether the fault is there with this value."""
        return value in self._found.get(name, ())

    def number(self, name: str) -> float | None:
        """The value of a fault that has a number; `None` where the fault is not there. Raises `ValueError`."""
        return float(self._found[name][-1]) if name in self._found else None

    def value(self, name: str) -> str | None:
        """The value of a fault; `None` where the fault is not there."""
        return self._found[name][-1] if name in self._found else None
