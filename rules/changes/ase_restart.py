"""A restart of SAP ASE that takes settings which somebody has made already; and how to take them back instead.

The script only shows: the restart itself is done by a person, at a time that suits. The undo is a comment: it would
write the values in force, as this export shows them, back into the configuration, and these settings are not ours.
"""

from collections.abc import Sequence

from collectors.facts import Missing, known
from collectors.facts.ase import ConfigParameter, NamedCache
from rules.changes.quoting import Unquotable, comment, tsql_string
from rules.finding import Change, Effect

BY_HAND = "-- by hand: one more setting waits, whose name or value cannot be written into a script safely"
AFTER = "-- restart the server at a time that suits, then run the lines above again: what was configured must now run"


def restart(settings: Sequence[ConfigParameter], caches: Sequence[NamedCache]) -> Change:
    """One restart for all that waits; advice alone where nothing of it can be written into a script safely."""
    apply: list[str] = []
    undo: list[str] = []
    every: tuple[ConfigParameter | NamedCache, ...] = (*settings, *caches)
    for one in every:
        try:
            show, back = _parameter(one) if isinstance(one, ConfigParameter) else _cache(one)
        except Unquotable:
            show = back = [BY_HAND]
        apply += show
        undo = back + undo
    scripted = any(line not in (BY_HAND, AFTER) for line in apply)
    return Change(
        key="ase.restart",
        target="restart of the server",
        old=None,
        new=None,
        apply=(*apply, AFTER),
        undo=(
            "-- These were configured by somebody else, so undoing this plan leaves them. What is not wanted goes",
            "-- back to the value in force with the lines below, taken out of their comments one by one:",
            *(line if line.startswith("--") else f"--   {line}" for line in undo),
            "-- restart the server, if it was restarted meanwhile",
        ),
        takes_effect=Effect.RESTART if scripted else Effect.ADVICE,
        cautions=(
            "Somebody set these: ask who and why before the restart.",
            "A listing taken before the last restart is out of date: take a new one.",
        ),
    )


def configured(setting: ConfigParameter) -> float | str | Missing:
    """The configured value, with `DEFAULT` spelt out."""
    value = setting.config_value
    return setting.default_value if isinstance(value, str) and value.upper() == "DEFAULT" else value


def setting_waits(setting: ConfigParameter) -> str:
    """What is configured and what runs, in words."""
    where = f" on {setting.instance}" if setting.instance else ""
    return f"{plain(configured(setting))} configured, {plain(setting.run_value)} running{where}"


def cache_waits(cache: NamedCache) -> str:
    """What of a cache is configured otherwise than it runs, in words; empty where nothing is.

    A configured size or number of partitions of 0 says that none was configured, not that 0 waits.
    """
    parts = [f"status {cache.status}"] if _changing(cache) else []
    for unit, config, run in (
        ("MB", cache.config_size_mb, cache.run_size_mb),
        ("partitions", cache.config_partitions, cache.run_partitions),
    ):
        if known(config) and known(run) and config not in (0, run):
            parts.append(f"{plain(config)} {unit} configured, {plain(run)} {unit} running")
    if _other_replacement(cache):
        parts.append(f"{cache.config_replacement} configured, {cache.run_replacement} running")
    return "; ".join(parts)


def plain(value: object) -> str:
    """A value as `sp_configure` takes it: whole numbers without a point."""
    if isinstance(value, int | float):
        return f"{value:.0f}" if value == int(value) else f"{value:.2f}"
    return str(value)


def _parameter(setting: ConfigParameter) -> tuple[list[str], list[str]]:
    name, run = tsql_string(setting.name), setting.run_value
    said = f"-- {comment(setting.name)}: {comment(setting_waits(setting))}"
    value = plain(run) if known(run) else f"0, {tsql_string(str(run))}"
    back = [f"sp_configure {name}, {value}", "go", f"sp_configure {name}", "go"]
    if setting.instance is not None:
        back = ["-- belongs to one instance of the cluster: by hand, there"]
    return [said, f"sp_configure {name}", "go"], [said, *back]


def _cache(cache: NamedCache) -> tuple[list[str], list[str]]:
    name = tsql_string(cache.name)
    said = f"-- cache {comment(cache.name)}: {comment(cache_waits(cache))}"
    back = [line for wanted in _as_it_runs(cache) for line in (f"sp_cacheconfig {name}, {wanted}", "go")]
    if _changing(cache) or cache.instance is not None:
        back = ["-- it is being made or dropped, or belongs to one instance: by hand"]
    return [said, f"sp_cacheconfig {name}", "go"], [said, *back]


def _as_it_runs(cache: NamedCache) -> list[str]:
    """The arguments that bring the configured side back to what runs."""
    wanted = []
    if known(cache.config_size_mb) and known(cache.run_size_mb) and cache.config_size_mb not in (0, cache.run_size_mb):
        wanted.append(f'"{cache.run_size_mb:.2f}M"')
    if _other_replacement(cache):
        wanted.append("relaxed" if cache.relaxed else "strict")
    partitions = cache.run_partitions
    if known(cache.config_partitions) and known(partitions) and cache.config_partitions not in (0, partitions):
        wanted.append(f'"cache_partition={partitions:.0f}"')
    return wanted


def _changing(cache: NamedCache) -> bool:
    """Whether the cache is waiting to be made or dropped: `Pend/Act`, `Act/Del`, `Pend/Del`."""
    return bool(cache.status) and str(cache.status).strip().lower() != "active"


def _other_replacement(cache: NamedCache) -> bool:
    config, run = (cache.config_replacement or "").strip().lower(), (cache.run_replacement or "").strip().lower()
    return bool(run) and config not in ("", "default", run)
