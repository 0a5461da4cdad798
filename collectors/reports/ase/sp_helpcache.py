"""Which objects are bound to which data cache, and what managing a cache takes (`sp_helpcache`).

Sizes, a pair of totals, then the bindings; the dashes are shorter than the columns in some releases::

     Cache Name                Config Size      Run Size      Overhead
     ------------------------- ---------------- ------------- ----------
     default data cache          4096.00 Mb      4096.00 Mb    281.50 Mb
     item cache                   512.00 Mb       512.00 Mb     36.10 Mb

    Memory Available For      Memory Configured
    Named Caches              To Named Caches
    --------------------      -----------------
      4608.00 Mb                 4608.00 Mb

    ------------------ Cache Binding Information: ------------------

    Cache Name           Entity Name          Type         Index Name        Status
    ----------           -----------          ----         ----------        ------
    item cache           orders.dbo.item      index        item_pk             V
    log cache            orders               database                         V

and, asked about a size, `36.10Mb of overhead memory will be needed to manage a cache of size 512M`: the law of one
server, given as a fact of its own.

* An entity of a table or index is `database.owner.table`. Where its dots can be read in more than one way it is a
  problem, and the binding keeps it whole as `database`, with its kind and without a table.
* Status `V` is valid, `I` is not (the object was dropped or moved since).
* A cache's sizes count where no listing of the caches themselves was given; the overhead is kept in any case
  (`collectors.listings`). The totals are sums of the rows and no facts.
* A list of bindings that was read whole is a fact of its own, with the caches named above it: where it has no rows,
  nothing is bound. A row that is damaged, or a heading without the dashes below it, leaves that open.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import BindingList, CacheBinding, CacheOverhead, NamedCache
from collectors.facts.base import NOWHERE, known
from collectors.layouts.figures import SIZE, size
from collectors.layouts.tables import Row, Table
from collectors.registry import NotThisReport, Report, report
from collectors.tables import Listing

SIZES_HEADED = re.compile(r"\bCache[ _]Name\W{1,80}Config[ _]Size\W{1,80}Run[ _]Size\W{1,80}Overhead\b", re.IGNORECASE)
BINDINGS_HEADED = re.compile(r"\bCache[ _]Name\W{1,80}Entity[ _]Name\W{1,80}Type\b", re.IGNORECASE)
BY_OBJECT = re.compile(
    r"^\W{0,9}Cache_?Name\W{1,80}Object_?Name\W{1,80}(?:DB|Database)_?Name\W{1,80}Type\W{0,80}$", re.IGNORECASE
)
"""Bindings as a script lists them; a title above has to say so, as what is cached is listed alike."""
ABOVE = 3
"""Lines above a heading in which its title stands (this project)."""
SAYS_BOUND = re.compile(r"\b(?:sp_helpcache|bindings?|bound)\b", re.IGNORECASE)
TITLE = re.compile(r"^\W{0,80}Cache Binding Information:", re.IGNORECASE)
TOTALS = re.compile(r"^\W{0,9}Memory Available For\b", re.IGNORECASE)
NEEDED = re.compile(
    rf"(?P<needs>{SIZE.pattern}) of overhead memory will be needed to manage a cache of size"
    r"\s{1,9}(?P<size>[0-9][0-9.]{0,20}\s?[KMG]?)",
    re.IGNORECASE,
)
START = re.compile(
    "|".join(pattern.pattern for pattern in (SIZES_HEADED, BINDINGS_HEADED, BY_OBJECT, TITLE, TOTALS))
    + r"|\bof overhead memory will be needed to manage a cache of size\b",
    re.IGNORECASE,
)
HEADING = re.compile(f"{SIZES_HEADED.pattern}|{BINDINGS_HEADED.pattern}|{BY_OBJECT.pattern}", re.IGNORECASE)
OTHERS = re.compile(f"{TOTALS.pattern}|{TITLE.pattern}|.*{NEEDED.pattern}", re.IGNORECASE)
STOP = re.compile(rf"\W{{0,40}}(?:{START.pattern})|\s*go\s*$", re.IGNORECASE)
KIND = r"\s+(?P<type>database|table|index|text(?: only)?|image)(?:\s+(?P<index>\S.{0,260}?))?\s+(?P<status>[VI])\s*"
APART = re.compile(rf"\s*(?P<cache>\S.{{0,200}}?)\s{{2,}}(?P<entity>\S.{{0,600}}?){KIND}", re.IGNORECASE)
"""A binding by its words, where blanks part the cache from what is bound to it."""
COLLAPSED = re.compile(rf"\s*(?P<cache>\S.{{0,200}}?)\s(?P<entity>\S+){KIND}", re.IGNORECASE)
"""The same where blanks were lost: an entity without a blank in it."""
NO_CACHE = NamedCache(name="")
"""Others are made of it: see `placed`."""
KINDS = ("database", "table", "index", "text", "text only", "image")
PARTS = re.compile(r'(?:"[^"]{0,255}"|\[[^\]]{0,255}\]|[^."\[\]]{0,255})(?:\.|$)')
FRAMED = ("isql", "boxed", "html")
"""Layouts in which a heading without rows is seen to be whole."""
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=START, provides=(CacheBinding, BindingList, NamedCache, CacheOverhead))
def read(report: Report) -> Iterator[CacheBinding | BindingList | NamedCache | CacheOverhead]:
    """Yield one fact per cache, per binding, per list of bindings and per answer about a size."""
    found = 0
    caches: list[str] = []
    answers: list[CacheOverhead] = []

    def hear(index: int, line: str) -> int:
        nonlocal found
        found += 1
        if TOTALS.match(line):
            return _claim_totals(report, index)
        report.claim(index)
        if not TITLE.match(line) and (needed := NEEDED.search(line)):
            answers.extend(_needed(report, needed, index))
        return index

    for heading, table in CACHES.tables(report, hear):
        if table.has("Object Name"):
            title = next((at for at in range(1, ABOVE + 1) if _is_title(report, heading, at)), 0)
            if title:
                found += 1
                report.above = max(report.above, title - heading)
                report.claim(max(0, heading - title), heading)
                yield from OBJECTS.facts(report, table, heading)
            continue
        found += 1
        yield from answers
        answers.clear()
        if table.has("Entity Name"):
            bindings = list(BINDINGS.facts(report, table, heading))
            yield from bindings
            if len(bindings) == len(table.rows) and (bindings or table.layout in FRAMED):
                where = report.source(heading, table.last)
                yield BindingList(source=where, bindings=len(bindings), caches=tuple(caches))
            caches = []
        else:
            for cache in CACHES.facts(report, table, heading):
                caches.append(cache.name)
                yield cache
    yield from answers
    if not found:
        raise NotThisReport


def _is_title(report: Report, heading: int, above: int) -> bool:
    """Whether so many lines above a heading one says that what is listed is bound."""
    lines = report.over(heading, above)
    return len(lines) == above and SAYS_BOUND.search(lines[0]) is not None


def _cache(row: Row, table: Table) -> Iterator[NamedCache]:
    """Read the sizes of a cache; told by their units, since the dashes may be shorter than the columns."""
    if row.whole and row.cells:
        name, kind = row.get("Cache Name"), row.get("Cache Type")
        sizes = [row.get(column) for column in ("Config Size", "Run Size", "Overhead")]
    else:
        found = list(SIZE.finditer(row.text[:600]))
        name = row.text[: found[0].start()].strip() if found else ""
        kind = row.text[found[-1].end() :].strip() if found else ""
        sizes = [one[0] for one in found]
    if name and len(sizes) == 3 and all(sizes):
        config, run, overhead = (size(one, "m") for one in sizes)
        sized = {"config_size_mb": config, "run_size_mb": run, "overhead_mb": overhead}
        yield NO_CACHE.placed(NOWHERE, name=name, kind=kind or None, **sized)


def _binding(row: Row, table: Table) -> Iterator[CacheBinding | str]:
    cells = _cells(row)
    if cells is None:
        return
    cache, entity, kind, index, status = cells
    parts = (entity, None, None) if kind == "database" else _parts(entity)
    if parts is None:
        yield f"the name `{entity[:120]}` has other dots than database.owner.table: kept whole"
        parts = (entity, None, None)
    yield CacheBinding(
        cache=cache,
        database=parts[0],
        owner=parts[1],
        table=parts[2],
        index=index if index and index.upper() != "NULL" else None,
        kind=kind,
        valid={"V": True, "I": False}.get(status.upper()),
    )


def _bound_object(row: Row, table: Table) -> Iterator[CacheBinding]:
    cache, name, database = row.get("Cache Name"), row.get("Object Name"), row.get("DB Name", "Database Name")
    if row.whole and cache and database:
        yield CacheBinding(cache=cache, database=database, table=name or None, kind="table" if name else "database")


def _cells(row: Row) -> tuple[str, str, str, str, str] | None:
    """Cache, entity, kind, index and status: by column, or by words where these do not stand under their headings."""
    names = ("Cache Name", "Entity Name", "Type", "Index Name", "Status")
    cache, entity, kind, index, status = (row.get(name) for name in names)
    if cache and entity and kind.lower() in KINDS and status.upper() in ("V", "I"):
        return cache, entity, kind.lower(), index, status
    found = APART.fullmatch(row.text[:1200]) or COLLAPSED.fullmatch(row.text[:1200])
    if not found or "." in found["cache"].split(" ")[-1]:
        return None  # the last word belongs to the entity: nobody knows where the name of the cache ends
    return found["cache"], found["entity"], found["type"].lower(), (found["index"] or "").strip(), found["status"]


def _parts(entity: str) -> tuple[str, str | None, str] | None:
    """Database, owner and table; `None` where the dots can be read in more than one way."""
    parts = [part.rstrip(".") for part in PARTS.findall(entity) if part]
    if len(parts) != 3 or ".".join(parts) != entity:
        return None
    database, owner, table = (
        part[1:-1] if part[:1] + part[-1:] in ('""', "[]") and len(part) > 1 else part for part in parts
    )
    return (database, owner or None, table) if database and table else None


def _claim_totals(report: Report, index: int) -> int:
    """Claim the totals, which are sums of the rows: two lines of heading, dashes, the figures."""
    last = index
    for at in range(index, min(index + 4, len(report.lines))):
        line = report.lines[at]
        if at > index + 1 and not (SIZE.search(line) or not line.strip("- \t")):
            break
        report.claim(at)
        last = at
    return last


def _needed(report: Report, found: re.Match[str], index: int) -> Iterator[CacheOverhead]:
    asked = found["size"].strip()
    needs = size(found["needs"], "m")
    whole = size(asked if asked[-1:].isalpha() else f"{asked}K", "m")  # sp_cacheconfig: no unit is kilobytes
    if known(needs) and known(whole):
        yield CacheOverhead(source=report.source(index), size_mb=whole, overhead_mb=needs)
    else:
        report.problem("the overhead was not printed as a number", index)


CACHES = Listing(heading=HEADING, row=_cache, stop=STOP, others=OTHERS, remedy=REMEDY)
BINDINGS = Listing(heading=BINDINGS_HEADED, row=_binding, stop=STOP, remedy=REMEDY, no_rows="")
OBJECTS = Listing(heading=BY_OBJECT, row=_bound_object, stop=STOP, remedy=REMEDY, no_rows="")
