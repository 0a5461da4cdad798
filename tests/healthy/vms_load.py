"""What a healthy OpenVMS system and its Oracle Rdb database bring, made of the few figures of `vms_nodes.yml`.

Figures agree: modes add up to 100 % of each CPU, lock rates to local, incoming and outgoing ones, the lock types of a
database stay below its summary. What is drawn is drawn by the node's name. Layouts: knowledge/openvms-formats.md and
rdb-formats.md.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.facts_yml import load

NODES = Path(__file__).resolve().parent / "vms_nodes.yml"
BEGAN = datetime(2026, 6, 23, 9, 0, 0)  # noqa: DTZ001 - a node's clock has no zone
MODES = ("Interrupt", "MpSync", "Kernel", "Exec", "Super", "User")
DECADES = {"RESHASHTBL": (64, 1, 16_777_216, "Entries", ""), "LOCKIDTBL": (3_840, 1_792, 16_776_959, "Entries", "")}
PARAMETERS: Mapping[str, tuple[int, int, int, str, str]] = DECADES | {
    "LCKMGR_MODE": (0, 0, 255, "Pure-numbe", "D"),
    "PE1": (0, -2_147_483_648, 2_147_483_647, "Pure-numbe", "D"),
    "LOCKDIRWT": (0, 0, 255, "Pure-numbe", ""),
}
"""Default, least, most, unit and whether it is dynamic (openvms-rules.md, 1)."""
COLUMNS = (
    "[MON]Sample Time|[MON.SYST]Direct I/O Rate|[MON.SYST]Buffered I/O Rate|[MON.SYST]Page Fault Rate"
    "|[MON.SYST]Process Count|[MON.SYST]Cpu Busy|[MON.MODE]Interrupt State|[MON.MODE]Mp Synch|[MON.MODE]Kernel Mode"
    "|[MON.MODE]Exec Mode|[MON.MODE]Super Mode|[MON.MODE]User Mode|[MON.MODE]Idle Time",
    "[MON.LOCK]New ENQ rate|[MON.LOCK]Converted ENQ rate|[MON.LOCK]Blocking AST Rate|[MON.LOCK]ENQs forced to wait"
    "|[MON.LOCK]DEQs|[MON.LOCK]Enqs not queued|[MON.LOCK]Deadlock searches|[MON.LOCK]Deadlocks found"
    "|[MON.LOCK]Locks Total|[MON.LOCK]Resources Total",
    "[MON.DLOC]New Locks (Local)|[MON.DLOC]New Locks (Incoming)|[MON.DLOC]New Locks (Outgoing)"
    "|[MON.DLOC]Lock conversions (Local)|[MON.DLOC]Lock conversions (Incoming)|[MON.DLOC]Lock conversions (Outgoing)"
    "|[MON.DLOC]Lock DEQs (local)|[MON.DLOC]Lock DEQs (incoming)|[MON.DLOC]Lock DEQs (outgoing)"
    "|[MON.DLOC]DIR functions (Incoming)|[MON.DLOC]DIR functions (Outgoing)",
    "[MON.RLCK]Lock trees moved|[MON.RLCK]Lock trees moved (higher activity)|[MON.RLCK]Lock trees moved (LOCKDIRWT)"
    "|[MON.RLCK]Lock trees moved (Single)|[MON.RLCK]Remaster messages sent|[MON.RLCK]Lock trees (Incoming)"
    "|[MON.RLCK]Remaster messages received",
    "[MON.ALIGN]Kernel|[MON.ALIGN]Exec|[MON.ALIGN]Super|[MON.ALIGN]User",
    "[LCK73]Sample Time|[LCK73]Spin Time Acc/Sec|[LCK73]Req Time Acc/Sec|[LCK73]Req Count/Sec|[LCK73]Busy %",
)


@dataclass(frozen=True, kw_only=True)
class Node:
    """One system: `vms_nodes.yml` says what each figure means."""

    name: str
    story: str
    release: str
    hardware: str
    cpus: int
    modes: tuple[float, ...]
    enq: float
    cvt: float
    locks: int
    resources: int
    sysgen: Mapping[str, int]
    brings: tuple[str, ...]
    incoming: float = 0.0
    outgoing: float = 0.0
    minutes: int = 60
    alignment: float = 0.0
    dedicated: Mapping[str, float] = field(default_factory=dict)
    other: Mapping[str, Any] = field(default_factory=dict)
    database: Mapping[str, Any] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple["Node", ...]:
        """This node, and the other one of its cluster."""
        return (self, replace(self, **self.other)) if self.other else (self,)


def nodes() -> dict[str, Node]:
    """Every healthy system, by name."""
    return {name: _node(name, told) for name, told in load(NODES).items()}


def _node(name: str, told: Mapping[str, Any]) -> Node:
    fields: dict[str, Any] = {**told, "modes": tuple(told["modes"]), "brings": tuple(told["brings"])}
    return Node(name=name, **fields)


class Exports:
    """The files of one system."""

    def __init__(self, node: Node, seed: int = 0) -> None:
        self.node, self._random = node, Random(f"{node.name} {seed}")

    def write(self) -> Iterator[tuple[str, str]]:
        """Give name and text of each file that was collected: of a cluster, T4 and settings of both nodes."""
        makers: Mapping[str, Callable[[Node], str]] = {
            "t4": self._t4,
            "monitor": self._monitor,
            "cpu": self._cpu,
            "sysgen": self._sysgen,
            "fastpath": self._fastpath,
            "system": self._system,
            "statistics": self._statistics,
            "rmu": self._rmu,
        }
        for node in self.node.nodes:
            for name in node.brings:
                if name in makers:
                    yield self._file(node, name), makers[name](node)
        if "cluster" in self.node.brings:
            yield "show_cluster.txt", self._cluster()
        if "header" in self.node.brings:
            yield "header.txt", self._header()

    def _file(self, node: Node, name: str) -> str:
        if name != "t4":
            return f"{name}_{node.name.lower()}.txt"
        ended = BEGAN + timedelta(minutes=node.minutes)
        return f"T4_{node.name}_{BEGAN:%d%b%Y_%H%M}_{ended:%H%M}_comp.csv".upper().replace(".CSV", ".csv")

    def _near(self, value: float, spread: float = 0.12) -> float:
        return value * self._random.uniform(1 - spread, 1 + spread)

    # T4

    def _t4(self, node: Node) -> str:
        head = (
            f"{node.name},  T4EXTR Version: , File Format Type: 1, Analyzer node: {node.name}, Monitor Comment: week "
        )
        lines = [head, "$$$ START COLUMN HEADERS $$$"]
        lines += [part.replace("|", ",") for part in COLUMNS]
        lines.append("$$$ END COLUMN HEADERS $$$")
        for minute in range(1, node.minutes + 1):
            lines.append(", ".join(self._sample(node, BEGAN + timedelta(minutes=minute, milliseconds=10 * minute))))
        return "\r\n".join(lines) + "\r\n"

    def _sample(self, node: Node, moment: datetime) -> list[str]:
        """A minute: all rates rise and fall with the work, and no mode takes more than there is."""
        work = self._random.uniform(0.82, 1.12)
        modes = [round(self._near(mode, 0.05) * work, 2) for mode in node.modes]
        idle = round(100 * node.cpus - sum(modes), 2)
        assert idle >= 0, node.name
        new, converted = round(node.enq * work, 2), round(node.cvt * work, 2)
        shared = [self._shared(node, rate) for rate in (new, converted, new)]
        served = (new * 2 + converted) if node.dedicated else 0.0
        busy = node.dedicated.get("busy", 0.0) * work
        sums = [round(sum(parts), 2) for parts in shared]
        figures = [
            *(self._near(value) for value in (node.enq * 0.4 + 200, 900.0, 170.0)),
            *(180, 100 * node.cpus - idle, *modes, idle),
            *(sums[0], sums[1], new * 0.002, new * 0.0015, sums[2], new * 0.0002, 0.0, 0.0),
            *(
                round(node.locks * self._random.uniform(0.9, 1.0)),
                round(node.resources * self._random.uniform(0.9, 1.0)),
            ),
            *(value for parts in shared for value in parts),
            *((new * node.incoming / 4000, new * node.outgoing / 4000)),
            *((0.02, 0.01, 0.0, 0.01, 0.11, 0.02, 0.1) if node.other else (0.0,) * 7),
            *(node.alignment * part * work for part in (0.2, 0.02, 0.01, 0.77)),
        ]
        lck73 = [served * 0.9e-6, served * 3.1e-6, served, busy]
        texts = [str(value) if isinstance(value, int) else f"{value:.2f}" for value in figures]
        time = f"{moment:%d-%b-%Y %H:%M:%S}.{moment.microsecond // 10_000:02d}".upper()
        return [time, *texts, f"{moment:%H:%M:%S}", *(f"{value:.3f}" for value in lck73)]

    @staticmethod
    def _shared(node: Node, rate: float) -> tuple[float, float, float]:
        """A rate, local, incoming and outgoing, of two decimals."""
        coming, going = round(rate * node.incoming / 100, 2), round(rate * node.outgoing / 100, 2)
        return round(rate - coming - going, 2), coming, going

    # MONITOR

    def _monitor(self, node: Node) -> str:
        ended = BEGAN + timedelta(hours=1)
        span = f"From: {BEGAN:%d-%b-%Y %H:%M:%S}.20   To: {ended:%d-%b-%Y %H:%M:%S}.41".upper().replace("FROM", "From")
        span = span.replace("TO:", "To:")
        modes = dict(
            zip(
                (
                    "Interrupt State",
                    "MP Synchronization",
                    "Kernel Mode",
                    "Executive Mode",
                    "Supervisor Mode",
                    "User Mode",
                ),
                node.modes,
                strict=True,
            )
        )
        idle = 100 * node.cpus - sum(node.modes)
        locks = {
            "New ENQ Rate": node.enq,
            "Converted ENQ Rate": node.cvt,
            "DEQ Rate": node.enq * 0.998,
            "Blocking AST Rate": node.enq * 0.002,
            "ENQs Forced To Wait Rate": node.enq * 0.0015,
            "ENQs Not Queued Rate": node.enq * 0.0002,
            "Deadlock Search Rate": 0.0,
            "Deadlock Find Rate": 0.0,
            "Total Locks": node.locks * 0.8,
            "Total Resources": node.resources * 0.8,
        }
        combined = f"Combined for  {node.cpus} CPUs" if node.cpus > 1 else ""
        text = self._screen(node, "TIME IN PROCESSOR MODES", span, combined, [*modes.items(), ("Idle Time", idle)])
        text += self._screen(node, "LOCK MANAGEMENT STATISTICS", span, "", list(locks.items()))
        rates = (
            (name, locks[name]) for name in ("New ENQ Rate", "Converted ENQ Rate", "DEQ Rate", "Blocking AST Rate")
        )
        rows = [(f"{name:<20}(Local)", rate) for name, rate in rates]
        whole = []
        for label, rate in rows:
            whole += [(label, rate), (f"{'':<20}(Incoming)", 0.0), (f"{'':<20}(Outgoing)", 0.0)]
        whole += [
            (f"{'Dir Functn Rate':<20}(Incoming)", 0.0),
            (f"{'':<20}(Outgoing)", 0.0),
            ("Deadlock Message Rate", 0.0),
        ]
        return text + self._screen(node, "DISTRIBUTED LOCK MANAGEMENT STATISTICS", span, "", whole)

    def _screen(self, node: Node, title: str, span: str, note: str, rows: list[tuple[str, float]]) -> str:
        lines = [f"{'':<28}OpenVMS Monitor Utility", f"{'':<28}{title}", f"{'':<18}on node {node.name:<8}      {span}"]
        lines += [f"{'':<35}SUMMARY", "", "", f"    {note:<33}{'CUR':>8}{'AVE':>11}{'MIN':>11}{'MAX':>11}", ""]
        now = 1.0 + 0.04 * (
            len(node.name) % 3 - 1
        )  # the last sample is a little above or below the mean, in all screens
        work = sum(mean for label, mean in rows if label != "Idle Time")
        for label, mean in rows:
            figures = (mean * now, mean, mean * 0.5, mean * 1.6)
            if label == "Idle Time":  # what the others leave of all CPUs
                whole = mean + work
                figures = (whole - work * now, mean, whole - work * 1.6, whole - work * 0.5)
                figures = (*figures[:2], max(0.0, figures[2]), figures[3])
            lines.append(f"    {label:<31}" + "".join(f"{value:>11.2f}" for value in figures).removeprefix(" "))
        return "\n".join([*lines, "", ""])

    # DCL

    def _cpu(self, node: Node) -> str:
        lines = ["$ SHOW CPU/FULL", f"System: {node.name}, {node.hardware}", ""]
        for cpu in range(node.cpus):
            owner = "LCKMGR_SERVER         PID: 20200407" if node.dedicated.get("cpu") == cpu else "* None *"
            lines += [
                f"CPU {cpu}    State: RUN                CPUDB: 8F{cpu + 0x1E:02X}0000     Handle: {0x5C40 + cpu:08X}",
                f"         Owner: 000004C8         Current: 000004C8     Partition 0 ({node.name})",
                f"        ChgCnt:         1          State: Present, {'Reassignable' if cpu else 'Primary'}",
                f"       Process: {owner}",
                "",
            ]
        return "\n".join(lines) + "\n"

    def _sysgen(self, node: Node) -> str:
        lines = ["$ MCR SYSGEN"]
        for name, value in node.sysgen.items():
            default, least, most, unit, dynamic = PARAMETERS[name]
            lines += [
                f"SYSGEN>  SHOW {name}",
                "Parameter Name            Current    Default     Min.       Max.   Unit  Dynamic",
                "--------------            -------    -------   -------    -------  ----  -------",
                f"{name:<23}{value:>10}{default:>11}{least:>10}{most:>11} {unit:<11}{dynamic}".rstrip(),
            ]
        return self._who(node) + "\n".join([*lines, "SYSGEN>  EXIT", ""])

    def _who(self, node: Node) -> str:
        """The heading of SHOW SYSTEM, which says whose listing this is; nobody pastes all of its rows."""
        return (
            f"$ SHOW SYSTEM/NOPROCESS\nOpenVMS {node.release}  on node {node.name}   "
            f"{BEGAN + timedelta(minutes=30):%d-%b-%Y %H:%M:%S}.77   Uptime  33 04:20:11\n".upper()
            .replace("OPENVMS", "OpenVMS")
            .replace("ON NODE", "on node")
            .replace("UPTIME", "Uptime")
        )

    def _fastpath(self, node: Node) -> str:
        moment = f"{BEGAN + timedelta(minutes=31):%d-%b-%Y %H:%M:%S}.40".upper()
        lines = ["$ SHOW FASTPATH", f"Fast Path preferred CPUs on {node.name} {moment}"]
        lines += [f"{node.hardware} with {node.cpus} active CPUs", "Device:           Fastpath CPU:"]
        lines += ["EWA0                      1", "FGA0                      2", "PKA0                      3"]
        if node.dedicated:
            lines.append(f"OpenVMS Lock Manager is currently running on CPU {node.dedicated['cpu']:.0f}")
        return "\n".join([*lines, ""])

    def _system(self, node: Node) -> str:
        head = self._who(node).replace("/NOPROCESS", "")
        lines = ["  Pid    Process Name    State  Pri      I/O       CPU       Page flts  Pages"]
        lines += ["20200401 SWAPPER         HIB     16        0   0 00:00:41.20         0      4"]
        if node.dedicated:
            cpu = node.dedicated["cpu"]
            lines += [f"20200407 LCKMGR_SERVER   CUR {cpu:3.0f} 63        4   9 11:02:10.44        41     60"]
        lines += ["2020041B TRADE_01        LEF      4  8077312   0 02:10:02.15     17755   9044", ""]
        return head + "\n".join(lines)

    def _cluster(self) -> str:
        first = self.node.nodes[0]
        moment = f"{BEGAN + timedelta(minutes=32):%d-%b-%Y %H:%M:%S}".upper()
        rule = "+--------+-----------------+-----------+---------+"
        lines = ["$ SHOW CLUSTER", f"View of Cluster from system ID 1043  node: {first.name:<16}{moment}", rule]
        lines += ["|  NODE  |     HW_TYPE     | SOFTWARE  |  STATUS |", rule]
        for node in self.node.nodes:
            hardware = node.hardware.partition("  ")[0]
            lines.append(f"| {node.name[:6]:<6} | {hardware:<15} | VMS {node.release:<5} | MEMBER  |")
        return "\n".join([*lines, rule, ""])

    # Rdb

    @property
    def _root(self) -> str:
        return f"DISK$DATA:[{self.node.database['name']}]{self.node.database['name']}.RDB;1"

    def _header(self) -> str:
        said, root = self.node.database, self._root
        several = said.get("nodes", 1) > 1
        moment = f"{BEGAN + timedelta(minutes=65):%d-%b-%Y %H:%M:%S}.11".upper()
        rule = "*" + "-" * 78
        on, off = "enabled", "disabled"
        structure = said["version"].removeprefix("V").partition("-")[0]
        lines = [f"$ RMU/DUMP/HEADER {said['name']}", rule, f"*  Oracle Rdb {said['version']:<40}{moment}", "*"]
        lines += ["*  Dump of Database header", f"*      Database: {root}", "*", rule, "", "Database Parameters:"]
        lines += [f'    Root filename is "{root}"', f"    Oracle Rdb structure level is {structure}"]
        lines += [f"    Maximum user count is {said['users'] * 2}", f"    Maximum node count is {said.get('nodes', 1)}"]
        if not several and said["users"] * 2 > 50:  # the trap of the header: TSN blocks, not nodes
            lines[-1] = f"    Maximum node count is {-(-said['users'] * 2 // 50)}"
        lines += ["    Database open mode is MANUAL", "    Snapshot mode is NON-DEFERRED", "    Statistics are enabled"]
        lines += ["    Storage Areas...", "      - Active storage area count is 14"]
        lines += ["    Buffers...", "      - Default user buffer count is 60"]
        lines += [f"      - Global buffers are {on}", "      - Global buffer count is 24000"]
        lines += [f"      - Page transfer via {'disk' if several else 'memory'}"]
        lines += ["    Row Caches..."]
        lines += [f"      - Active row cache count is {0 if several else 4}", "      - Reserved row cache count is 8"]
        lines += ["    AIJ Journaling...", f"      - After-image journaling is {on}"]
        lines += ["    Fast Commit...", f"      - Fast commit is {on}", f"      - Commit to AIJ optimization is {on}"]
        lines += ["      - Transaction interval is 256"]
        lines += ["    Locking...", f"      - Adjustable record locking is {on}", "        - Fanout factor 1 is 10"]
        lines += ["        - Fanout factor 2 is 100", "        - Fanout factor 3 is 1000"]
        lines += [f"      - Carry-over lock optimization is {on}"]
        lines += [
            f"      - Lock tree partitioning is {on if several else off}",
            "      - Lock timeout interval is 30 seconds",
        ]
        return "\n".join([*lines, ""])

    def _statistics(self, node: Node) -> str:
        """Screens twice, half an hour and an hour after the database was opened for the day."""
        said = node.database
        requests, promoted, work = said["requests"], said["promoted"], said["transactions"]
        pages = {
            name: rate * (0.1 if said.get("reader") else 0.24)
            for name, rate in self._locking(requests, promoted).items()
        }
        records = {name: rate * 0.6 for name, rate in self._locking(requests, promoted).items()}
        writes = 0.05 if said.get("reader") else 1.0
        summary = {
            "transactions": work,
            "verb successes": work * 25.0,
            "verb failures": work * 0.05,
            "synch data reads": work * 1.3,
            "synch data writes": work * 0.02 * writes,
            "asynch data reads": work * 0.5,
            "asynch data writes": work * 0.4 * writes,
            "RUJ file reads": 0.0,
            "RUJ file writes": work * 0.2 * writes,
            "AIJ file reads": 0.0,
            "AIJ file writes": work * 0.5 * writes,
            "ACE file reads": 0.0,
            "root file reads": work * 0.02,
            "root file writes": work * 0.02 * writes,
        }
        text = ""
        for minutes in (30, 60):
            for at, (title, rates) in enumerate(
                (
                    ("Summary Locking Statistics", self._locking(requests, promoted)),
                    ("Locking (page locks)", pages),
                    ("Locking (record locks)", records),
                    ("Summary IO Statistics", summary),
                )
            ):
                text += self._statistics_screen(node, title, rates, timedelta(minutes=minutes, seconds=4 * at))
        return text

    @staticmethod
    def _locking(requests: float, promoted: float) -> dict[str, float]:
        return {
            "locks requested": requests,
            "  rqsts not queued": requests * 0.0006,
            "  rqsts stalled": requests * 0.0005,
            "  rqst timeouts": 0.0,
            "  rqst deadlocks": 0.0,
            "locks promoted": promoted,
            "  proms not queued": 0.0,
            "  proms stalled": promoted * 0.0003,
            "  prom timeouts": 0.0,
            "  prom deadlocks": 0.0,
            "locks demoted": promoted * 0.97,
            "locks released": requests * 0.99,
            "blocking ASTs": requests * 0.0025,
            "stall time x100": requests * 0.003,
            "invalid lock block": 0.0,
        }

    def _statistics_screen(self, node: Node, title: str, rates: Mapping[str, float], elapsed: timedelta) -> str:
        seconds, work = elapsed.total_seconds(), node.database["transactions"]
        moment = f"{BEGAN + elapsed:%d-%b-%Y %H:%M:%S}.00".upper()
        clock = f"{int(seconds) // 3600:02d}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}.00"
        lines = [f"Node: {node.name} (1/1/1)     Oracle Rdb {node.database['version']} Perf. Monitor {moment}"]
        lines += [f"Rate: 3.00 Seconds{title:^42}Elapsed: {clock}", f"Page: 1 of 1{self._root:^48}Mode: Online"]
        lines += ["statistic......... rate.per.second............. total....... average......"]
        lines += ["name.............. max..... cur..... avg....... count....... per.trans...."]
        for label, rate in rates.items():
            count = round(rate * seconds)
            figures = f"{math.ceil(rate * 1.55):>8d} {rate * 1.04:>8.0f} {count / seconds:>10.1f} {count:>12d}"
            lines.append(f"{label:<18} {figures} {count / (work * seconds):>13.1f}")
        lines += ["-" * 78, "Exit Graph Help Menu Options Pause Reset Set_rate Time_plot Unreset Write X_plot Yank !"]
        return "\n".join([*lines, "", ""])

    def _rmu(self, node: Node) -> str:
        moment = f"{BEGAN + timedelta(minutes=64):%d-%b-%Y %H:%M:%S}.05".upper()
        return "\n".join(
            [
                "$ RMU/SHOW SYSTEM",
                f"Oracle Rdb {node.database['version']} on node {node.name} {moment}",
                "    - monitor started  1-JUN-2026 05:52:20.13 (uptime 22 04:11:40)",
                "",
                f"database {self._root}",
                "  - first opened 23-JUN-2026 09:00:00.00 (elapsed 0 01:04:00)",
                "  * database is opened by an operator",
                "  - current after-image journal file is DISK$AIJ:[AIJ]AIJ_02.AIJ;1",
                f"  - {node.database['users']} active database users",
                "",
            ]
        )
