"""Columns that name a setting beside the load and the rate, and the series that such a table makes.

Rows that agree in all settings are one load series. The rate over one setting, where nothing else differs between the
runs, is a series over a parameter as well: one for each combination of the other settings, at the load that was
measured at most of its values. A switch is such a parameter only where its runs have no course over the load.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from collectors.facts.base import Source
from collectors.facts.scaling import FOLLOWS, LoadPoint, LoadSeries, ParameterPoint, ParameterSeries
from collectors.registry import Report
from collectors.reports.scaling.load_series.cells import number

SETUP = (
    "series",
    "title",
    "node",
    "model",
    "clock_mhz",
    "cores",
    "threads",
    "release",
    "dlm",
    "dlm_cpu",
    "stopped_cpus",
    "reshashtbl",
    "lockidtbl",
    "lvb_bytes",
    "nodes",
    "master",
)
"""What a row says of the machine; rows that agree in all of it are of one series. `title` is that of its table."""
NAMED = {
    "reshashtbl": r"RESHASHTBL|(?:resource[ _])?hash[ _]table(?:[ _](?:size|entries))?|RHT(?:[ _](?:size|entries))?",
    "lockidtbl": r"LOCKIDTBL",
    "lvb_bytes": r"(?:LVB|(?:lock[ _])?value[ _]blocks?)(?:[ _](?:bytes|size))?",
    "dlm": r"DLM|dedicated(?:[ _](?:lock[ _]manager|CPU))?|LCKMGR",
    "threads": r"(?:hyper|co)?[ _-]?thread(?:s|ing)",
}
"""The settings of a table that anyone may write: the name of the laboratory → how a heading may call it."""
OF_MACHINE = {"node": r"node", "model": r"model|machine", "release": r"release|version"}
"""What may stand beside a setting; without one such a column parts nothing."""
OPENVMS = frozenset(("reshashtbl", "lockidtbl", "lvb_bytes", "dlm"))
"""What only OpenVMS has; threads every machine may have."""
ON = frozenset(("on", "yes", "y", "true", "1", "with", "enabled"))
OFF = frozenset(("off", "no", "n", "false", "0", "without", "disabled", "none"))
BYTES = re.compile(r"([0-9]{1,9})(?:[ -]?bytes?)?", re.IGNORECASE)
SWITCHES = {"dlm": "dedicated lock manager", "threads": "hyperthreads", "lvb_bytes": "value blocks"}
IN_TITLE = frozenset(("series", "title", "node", "model", "clock_mhz", "cores", "dlm_cpu", "stopped_cpus", "release"))
"""What the title has already, or what only follows from another setting."""
OVER = {"reshashtbl": "RESHASHTBL", "lockidtbl": "LOCKIDTBL", "lvb_bytes": "LVB bytes"}
"""Settings with a size: the name that a series over them has."""
_NAMED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in (NAMED | OF_MACHINE).items()}


@dataclass(frozen=True)
class Run:
    """One row that can be used."""

    index: int
    """Of its line in the report."""
    setup: tuple[tuple[str, str], ...]
    point: LoadPoint


def setting_columns(cells: Sequence[str]) -> dict[int, str]:
    """The columns of a heading that hold a setting or, beside one, name the machine; each setting once."""
    found: dict[int, str] = {}
    for at, cell in enumerate(cells):
        name = next((name for name, pattern in _NAMED.items() if pattern.fullmatch(cell.strip())), None)
        if name and name not in found.values():
            found[at] = name
    return found if any(name in NAMED for name in found.values()) else {}


def setting_of(name: str, text: str) -> str | None:
    """What a cell says of a setting: `on`, `off`, whole digits, a name; empty: nothing; `None`: no such setting."""
    flat = " ".join(text.strip(' "').split())[:80]
    if not flat or name in OF_MACHINE:
        return flat
    word = flat.lower()
    if name == "lvb_bytes" and word in OFF:
        return "0"
    if name in ("dlm", "threads") or (name == "lvb_bytes" and word in ON and word != "1"):
        return "on" if word in ON else "off" if word in OFF else None
    if name == "lvb_bytes" and (sized := BYTES.fullmatch(flat)):
        return str(int(sized[1]))
    read = number(flat, commas_decimal=False, comma_parts=True)
    return f"{read:.0f}" if read is not None and read >= 0 and read == int(read) else None


def is_switch(text: str) -> bool:
    """Whether a cell says on or off in a word: `threads` is a load where a number stands."""
    return text.strip(' "').lower() in (ON | OFF) - {"0", "1"}


def series_of(
    report: Report,
    runs: Sequence[Run],
    *,
    load_name: str | None = "processes",
    rate_name: str,
    product: str | None = "openvms",
    machine: tuple[int | None, float | None] = (None, None),
) -> Iterator[LoadSeries | ParameterSeries]:
    """All series of these runs. `load_name` `None`: no load was told; `machine`: cores and MHz by the table's title."""
    groups: dict[tuple[tuple[str, str], ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(run.setup, []).append(run)
    families: dict[tuple[str, str], list[dict[str, str]]] = {}
    for setup in groups:
        said = dict(setup)
        families.setdefault((said.get("series", ""), said.get("node", "")), []).append(said)
    titles = _titles(groups)
    alone: list[tuple[str, Run]] = []
    for setup, own in groups.items():
        said, name = dict(setup), titles[setup]
        family = families[said.get("series", ""), said.get("node", "")]
        if load_name and len(own) > 1:
            yield LoadSeries(
                source=_source(report, own),
                title=name,
                load_name=load_name,
                rate_name=rate_name,
                points=tuple(sorted((one.point for one in own), key=lambda point: point.load)),
                product=product,
                cores=_whole(said.get("cores")) or machine[0],
                clock_mhz=number(said.get("clock_mhz", ""), commas_decimal=False, comma_parts=True) or machine[1],
                setup=setup,
            )
        elif len(family) == 1:
            alone += [(name, run) for run in own]
    used: set[int] = set()
    for node in dict.fromkeys(name for _, name in families):
        mine = [run for run in runs if dict(run.setup).get("node", "") == node]
        for series in _over_settings(report, mine, load_name, rate_name):
            used.update(point.line for point in series.points)
            yield series
    if left := [(name, run) for name, run in alone if run.point.line not in used]:
        more = f", and {len(left) - 1} more like it" if len(left) > 1 else ""
        report.problem(
            f"{left[0][0]}{more}: fewer than two steps can be used: no series, measure more", left[0][1].index
        )


def _over_settings(
    report: Report,
    runs: Sequence[Run],
    load_name: str | None,
    rate_name: str,
) -> Iterator[ParameterSeries]:
    """The rate over each setting that differs, for each combination of the others; whatever a row calls its series."""
    family = [dict(setup) for setup in dict.fromkeys(run.setup for run in runs)]
    loads: dict[tuple[tuple[str, str], ...], set[float]] = {}
    for run in runs:
        loads.setdefault(run.setup, set()).add(run.point.load)
    course = load_name is not None and all(len(measured) > 1 for measured in loads.values())
    for column in (*OVER, *(name for name in SWITCHES if name not in OVER)):
        said = {one[column] for one in family if column in one}
        sized, switched = all(map(_is_whole, said)), said <= {"on", "off", "0"}
        if len(said) < 2 or not (sized or (switched and not course)):
            continue
        alike: dict[tuple[tuple[str, str], ...], list[Run]] = {}
        for run in runs:
            if column in dict(run.setup):
                alike.setdefault(_without(run.setup, column), []).append(run)
        for rest, own in alike.items():
            at = _most_values(own, column) if load_name else own
            if len({dict(run.setup)[column] for run in at}) < 2:
                continue
            used = sorted(at, key=lambda run: (_value(run, column), run.index))
            load = at[0].point.load
            name = _title(dict(rest), [one for one in family if column in one], column)
            counted = f"{load:g} {'process' if (load_name, load) == ('processes', 1) else load_name}"
            yield ParameterSeries(
                source=_source(report, used),
                title=f"{name}, {counted}" if load_name else name,
                parameter=OVER[column] if sized else SWITCHES[column],
                rate_name=rate_name,
                points=tuple(
                    ParameterPoint(value=_value(run, column), rate=run.point.rate, line=run.point.line) for run in used
                ),
                setup=rest,
                switch=not sized,
            )


def _most_values(runs: Sequence[Run], column: str) -> list[Run]:
    """The runs at the load that was measured at most values of a setting; of equals the one that did most."""
    at: dict[float, list[Run]] = {}
    for run in runs:
        at.setdefault(run.point.load, []).append(run)
    best = max(
        at.values(),
        key=lambda own: (len({dict(run.setup)[column] for run in own}), max(run.point.rate for run in own)),
    )
    return best


def _value(run: Run, column: str) -> float:
    """A size as it is, a switch as 1 or 0."""
    text = dict(run.setup)[column]
    return float(text) if _is_whole(text) else float(text == "on")


def _without(setup: tuple[tuple[str, str], ...], column: str) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in setup if pair[0] not in ("series", column, *FOLLOWS.get(column, ())))


def _titles(setups: Iterable[tuple[tuple[str, str], ...]]) -> dict[tuple[tuple[str, str], ...], str]:
    """The title of each series: what differs within its node, whatever the rows call their series.

    Where that leaves two alike, it is what they are called.
    """
    said = {setup: dict(setup) for setup in setups}
    of_node: dict[str, list[dict[str, str]]] = {}
    for one in said.values():
        of_node.setdefault(one.get("node", ""), []).append(one)
    found = {setup: _title(one, of_node[one.get("node", "")]) for setup, one in said.items()}
    alike = {title for title in found.values() if list(found.values()).count(title) > 1}
    return {
        setup: f"{title}, series {called}" if title in alike and (called := said[setup].get("series")) else title
        for setup, title in found.items()
    }


def _title(said: Mapping[str, str], family: Sequence[Mapping[str, str]], but: str = "") -> str:
    """`rx2660 (1600 MHz) - 2 cores, LEWIS, with hyperthreads`: the machine, and what differs but the setting `but`."""
    clock = f" ({said['clock_mhz']} MHz)" if said.get("clock_mhz") else ""
    cores = f" - {said['cores']} cores" if said.get("cores") else ""
    parts = [said.get("title", ""), (said.get("model", "") + clock + cores).strip(" -"), said.get("node", "")]
    for name in SETUP:
        several = len({one.get(name) for one in family}) > 1 or (name == said.get("series") and name in SWITCHES)
        if name in IN_TITLE or name == but or not several or not (text := said.get(name)):
            continue
        switched = name in SWITCHES and (name != "lvb_bytes" or any(one.get(name) == "on" for one in family))
        if switched and text.lower() in ("on", "off", "0"):
            parts.append(f"{'with' if text.lower() == 'on' else 'without'} {SWITCHES[name]}")
        else:
            parts.append(f"{OVER.get(name, name)} {text}")
    return ", ".join(part for part in parts if part) or "lock laboratory"


def _source(report: Report, runs: Sequence[Run]) -> Source:
    return report.source(min(run.index for run in runs), max(run.index for run in runs))


def _is_whole(text: str) -> bool:
    return _whole(text) is not None


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 16 else None
