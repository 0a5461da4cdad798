"""The server's configuration file (`<server>.cfg`): what is configured, as the server wrote it down.

Sections with names and values, `DEFAULT` everywhere (ase-formats.md 3.1 [D])::

    [Named Cache:default data cache]
            cache size = 4096.0000M
            cache status = default data cache
            cache replacement policy = DEFAULT
            local cache partition number = 4

    [16K I/O Buffer Pool]
            pool size = 512.0000M
            wash size = DEFAULT
            local async prefetch limit = DEFAULT

    [Lock Manager]
            number of locks = 90000
            lock spinlock ratio = DEFAULT

* It says what is configured and never what runs: run values, wash and prefetch as they are, stay absent. Beside
  `sp_configure` and the listings of caches it adds nothing that is judged by (`collectors.listings`).
* `DEFAULT` of a parameter stays that word; of a size or a number of partitions it is absent: none was configured.
* Pools follow their cache. A pool without a cache above it, and a value that is none, are problems.
* A parameter below `[Instance:name]` belongs to that instance. Thread pools and other sections with a name of their own
  are understood and not kept.
* A name that stands twice in a file: the later one counts, as for the server, and it is a problem.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.facts.ase import CachePool, ConfigParameter, NamedCache
from collectors.facts.base import ABSENT, OVERFLOW, Reading
from collectors.layouts.figures import number, size
from collectors.registry import NotThisReport, Report, report

GROUPS = (
    r"Application Functionality|Backup/Recovery|Cache Manager|Component Integration Services|Configuration Options"
    r"|DTM Administration|Diagnostics|Disk I/O|Error Log|Extended Stored Procedure|General Information|Java Services"
    r"|Languages|Lock Manager|Memory Use|Meta-?Data Caches|Monitoring|Network Communication|O/S Resources"
    r"|Parallel Query|Physical (?:Memory|Resources)|Processors|Query Tuning|Rep ?Agent Thread Administration"
    r"|SQL Server Administration|Security Related|Unicode|User Environment|Shared Disk Cluster"
)
SECTION = re.compile(r"\s{0,40}\[\s{0,4}(?P<name>[^\[\]]{1,300}?)\s{0,4}\]\s*")
START = re.compile(
    rf"^\s{{0,8}}\[(?:{GROUPS}|(?:Named Cache|Thread Pool):[^\[\]]{{1,260}}|[0-9]{{1,4}}K I/O Buffer Pool)\]\s*$"
    r"|^#.{0,60}\bConfiguration File for the\b",
    re.IGNORECASE,
)
CACHE = re.compile(r"Named Cache:\s{0,4}(.{1,255})", re.IGNORECASE)
POOL = re.compile(r"([0-9]{1,4})K I/O Buffer Pool", re.IGNORECASE)
INSTANCE = re.compile(r"Instance:\s{0,4}(.{1,60})", re.IGNORECASE)
VALUE = re.compile(r"\s{0,40}(?P<name>[^\s=#\[][^=]{0,120}?)\s{0,40}=\s{0,40}(?P<value>.{0,2000}?)\s*")
NO_LINE = re.compile(r"\s*(?:#.*)?")
KINDS = {"default data cache": "Default", "mixed cache": "Mixed", "log only": "Log Only"}
POLICIES = {"lru replacement": "strict LRU", "relaxed lru replacement": "relaxed LRU"}
MEGABYTES_TO = 1e9
"""A size above a petabyte is damage."""
REMEDY = "upload the whole .cfg file as the server wrote it"


@report(starts=START, provides=(ConfigParameter, NamedCache, CachePool))
def read(report: Report) -> Iterator[ConfigParameter | NamedCache | CachePool]:
    """Yield one fact per parameter, per cache and per pool, in the order of the file."""
    reading = _Reading(report)
    for index, line in enumerate(report.lines):
        if NO_LINE.fullmatch(line):
            report.claim(index)
        elif section := SECTION.fullmatch(line):
            reading.section(index, section["name"])
        elif found := VALUE.fullmatch(line):
            reading.value(index, " ".join(found["name"].split()), found["value"].strip("\"'"))
    if not reading.sections:
        raise NotThisReport
    for line in reversed(report.before):
        if not line.startswith("#"):
            break
        report.above += 1
    if not reading.facts:
        report.problem(f"sections without any value: {REMEDY}", 0)
    yield from reading.facts.values()


class _Reading:
    """Knows in which section a value stands."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.facts: dict[tuple[str, ...], ConfigParameter | NamedCache | CachePool] = {}
        self.sections = 0
        self.cache = self.instance = ""
        self.at: tuple[str, ...] = ()
        """The cache or pool of this section; empty in a section of parameters."""
        self.foreign = False

    def section(self, index: int, name: str) -> None:
        """Begin a section."""
        self.report.claim(index)
        self.sections += 1
        self.at, self.foreign = (), False
        source = self.report.source(index)
        if cache := CACHE.fullmatch(name):
            self.cache = cache[1]
            self.at = ("cache", self.cache)
            self.facts[self.at] = NamedCache(source=source, name=self.cache)
        elif pool := POOL.fullmatch(name):
            self.foreign = not self.cache
            if self.foreign:
                self.report.problem(f"a pool without its cache above it was not read: {REMEDY}", index)
                return
            self.at = ("pool", self.cache, pool[1])
            self.facts[self.at] = CachePool(source=source, cache=self.cache, io_size_kb=float(pool[1]))
        else:
            instance = INSTANCE.fullmatch(name)
            self.cache, self.instance = "", instance[1] if instance else ""
            self.foreign = ":" in name and not instance

    def value(self, index: int, name: str, text: str) -> None:
        """Take one line of a section."""
        if not self.sections:
            return
        self.report.claim(index)
        if self.foreign:
            return
        if not text:
            self.report.problem(f"`{name[:80]}` has no value and was not read: {REMEDY}", index)
        elif not self.at:
            self._parameter(index, name, text)
        else:
            fact = self.facts[self.at]
            fact = replace(fact, source=replace(fact.source, last=self.report.source(index).last))
            if isinstance(fact, NamedCache):
                fact = self._of_cache(fact, index, name, text)
            elif isinstance(fact, CachePool):
                fact = self._of_pool(fact, index, name, text)
            self.facts[self.at] = fact

    def _parameter(self, index: int, name: str, text: str) -> None:
        key = ("parameter", name, self.instance)
        if key in self.facts:
            self.report.problem(f"`{name[:80]}` stands twice: the later one counts, as for the server", index)
        value: Reading | str | None = number(text)
        if value is None:
            value = "DEFAULT" if text.upper() == "DEFAULT" else text if text.strip("*") else OVERFLOW
        self.facts.pop(key, None)
        self.facts[key] = ConfigParameter(
            source=self.report.source(index), name=name, config_value=value, instance=self.instance or None
        )

    def _of_cache(self, fact: NamedCache, index: int, name: str, text: str) -> NamedCache:
        default = text.upper() == "DEFAULT"
        match name.lower():
            case "cache size":
                return replace(fact, config_size_mb=self._megabytes(index, name, text))
            case "cache status":
                return replace(fact, kind=None if default else KINDS.get(text.lower(), text))
            case "cache replacement policy":
                return replace(fact, config_replacement=None if default else POLICIES.get(text.lower(), text))
            case "local cache partition number":
                parts = number(text)
                if parts is None and not default:
                    self.report.problem(f"`{name}` is no number: {REMEDY}", index)
                return replace(fact, config_partitions=ABSENT if parts is None else parts)
        return fact

    def _of_pool(self, fact: CachePool, index: int, name: str, text: str) -> CachePool:
        if name.lower() != "pool size":
            return fact  # wash and prefetch are configured here; the fact holds what runs
        return replace(fact, config_size_mb=self._megabytes(index, name, text))

    def _megabytes(self, index: int, name: str, text: str) -> Reading:
        """A size with its unit; without a unit the server takes kilobytes."""
        if text.upper() == "DEFAULT":
            return ABSENT
        found = size(text if text[-1:].isalpha() else f"{text}K", "m")
        if not isinstance(found, float) or not 0 <= found < MEGABYTES_TO:
            self.report.problem(f"`{name}` is no size: {REMEDY}", index)
            return ABSENT
        return found
