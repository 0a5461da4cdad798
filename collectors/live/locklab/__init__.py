"""The lock laboratory: what record locking costs on this machine, coarse against fine ranges of `fcntl`.

Processes update counters in one file, each update under a lock: of the whole file, or of the bytes of its record. Both
variants do the same work, so their user times compare, and afterwards no update may be missing. The result is the long
table that `collectors.reports.unix.locking_runs` reads.
"""

from collectors.live.locklab.measuring import Measured, measure
from collectors.live.locklab.printing import others_said, text_of
from collectors.live.locklab.run_request import DEFAULT_RECORDS, DEFAULT_REPEAT, DEFAULT_SECONDS, RunRequest, request_of

__all__ = [
    "DEFAULT_RECORDS",
    "DEFAULT_REPEAT",
    "DEFAULT_SECONDS",
    "Measured",
    "RunRequest",
    "measure",
    "others_said",
    "request_of",
    "text_of",
]
