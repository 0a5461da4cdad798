"""Lock waits of SAP ASE that `lock wait period` ended, by sp_sysmon, and the period of the server."""

from collectors.facts import Facts
from collectors.facts.ase import ConfigParameter, LockEvents
from rules.ase._evidence.server import setting_of

PERIOD, FOR_EVER = "lock wait period", 2_147_483_647


def total_ended(facts: Facts) -> LockEvents | None:
    """The total of the newest report, also where its count was not read; `None` where no report prints one."""
    totals = [one for one in facts.every(LockEvents) if one.event == "timeout" and one.kind.startswith("Total")]
    return totals[-1] if totals else None


def ending_period(facts: Facts) -> ConfigParameter | None:
    """The server's lock wait period where it ends waits; `None`: not in the export, or they last for ever."""
    setting = setting_of(facts, PERIOD)
    return setting if setting and setting.run_number is not None and setting.run_number < FOR_EVER else None
