"""Which release of SAP ASE brought which monitoring table, catalog or option: nothing that one lacks is asked of it.

By the vendor's documentation and by tools that test the release before they ask (knowledge/ase-formats.md, 2.2;
releases-2026.md, 1.5). A table that is not listed is in every release that is audited, or no source says since when:
nothing is claimed of it.
"""

from collections.abc import Mapping

TABLES: Mapping[str, str] = {
    "monCachedObject": "15.0",
    "monOpenPartitionActivity": "15.0",
    "monCachedStatement": "15.0.2",
    "syscacheinfo": "15.7",
    "syspoolinfo": "15.7",
    "monThread": "15.7",
    "monLockTimeout": "15.7",
    "monSpinlockActivity": "15.7 ESD#2",
    "monThresholdEvent": "16.0",
    "monSysExecutionTime": "16.0",
    "monDeviceSegmentIO": "16.0 SP02",
    "monProcELC": "16.0 SP03 PL08",
}
"""By name the first release, as `Server.reached` takes it."""
OPTIONS: Mapping[str, str] = {
    "delayed commit": "15.0",
    "enable literal autoparam": "15.0.1",
}
"""The same of settings that advice names in words: New Features Guide of Replication Server 15.2 (nfg_rs9), Query
Processing 15.7 (BIIIBEJJ)."""
