"""A restart of SAP ASE that takes settings which somebody has made already; and how to take them back instead.

One change for each setting that waits, so that a plan can leave out those that another finding changes or takes back.
The script only shows: the restart itself is done by a person, at a time that suits. The undo is a comment: it would
write the value in force, as this export shows it, back into the configuration, and the setting is not ours.
"""

from collections.abc import Iterator

from collectors.facts import Missing, known
from collectors.facts.ase import ConfigParameter, NamedCache
from rules.changes.ase_config import configured_value
from rules.changes.quoting import Unquotable, batches, comment, tsql_string
from rules.finding import Change, Effect

BY_HAND = "-- by hand: one more setting waits, whose name or value cannot be written into a script safely"
AFTER = "-- restart the server at a time that suits, then run the lines above again: what was configured must now run"
CONFIRM = "-- Ask who configured this: only if somebody confirms that it is meant, leave these lines out."
OPENING = (
    "-- Some settings below were configured before this plan: ask who set them and why before the restart.",
    "-- A listing taken before the last restart is out of date: take a new one first.",
)
UNDO_OPENING = (
    "-- What was configured before this plan is left as it is. What of it is not wanted goes back to the value in",
    "-- force with the lines that are comments below, taken out of them one by one:",
)
UNDO_CLOSING = ("-- restart the server, if it was restarted meanwhile",)

WAITS = ", configured already"
"""The end of the target of such a change."""
STRATEGIES = {"strict lru", "relaxed lru"}
"""What SAP ASE prints of replacement; another word is a damaged listing, and DEFAULT says nothing of a change."""


def restart_setting(setting: ConfigParameter) -> Change:
    """Let the next restart take one parameter; advice alone where it cannot be written into a script safely."""
    run, wanted = setting.run_value, configured_value(setting)
    where = "" if setting.instance is None else f" on {comment(setting.instance)}"
    try:
        name = tsql_string(setting.name)
        value = plain(run) if known(run) else f"0, {tsql_string(str(run))}"
    except Unquotable:
        return _change(f"{setting.name}{where}", (run, wanted), None, ())
    back = batches(f"sp_configure {name}, {value}", f"sp_configure {name}")
    if setting.instance is not None:
        back = ("-- belongs to one instance of the cluster: by hand, there",)
    said = f"-- {comment(setting.name)}: {comment(setting_waits(setting))}"
    lines = batches(said, f"sp_configure {name}"), (said, *back)
    return _change(f"{setting.name}{where}", (run, wanted), lines, (f"ase.config:{setting.name}",))


def restart_cache(cache: NamedCache) -> tuple[Change, ...]:
    """Let the next restart take what of a cache waits: a change for each of status, size, partitions, replacement."""
    return tuple(_cache(cache, what, said, values, back) for what, said, values, back in _waiting(cache))


def take_back(restart: Change) -> Change:
    """Write what runs into the configuration in place of what waits, before any restart; dynamic.

    `restart`: one change of this module, whose undo holds the lines. Where it has none to run, this is by hand.
    """
    subject = restart.key.removeprefix("ase.restart:")
    said, *lines = restart.undo
    script = [line.removeprefix("--   ") for line in lines]
    runs = any(not line.startswith("--") for line in script)
    checks = ("-- no restart: check that what is configured is now what runs",) if runs else ()
    return Change(
        key=f"ase.pending:{subject}",
        target=f"{restart.target.removesuffix(WAITS)}, taken back",
        old=restart.new,
        new=restart.old,
        apply=(CONFIRM, said, *script, *checks),
        undo=(f"{said}; what was configured had not run and is not restored",),
        takes_effect=Effect.ONLINE if runs else Effect.ADVICE,
        yields_to=restart.yields_to,
        comes_along=f"This restart would also take what is configured already, {said.removeprefix('-- ')}: take that "
        "back or confirm it first.",
    )


def setting_waits(setting: ConfigParameter) -> str:
    """What is configured and what runs, in words."""
    where = f" on {setting.instance}" if setting.instance else ""
    return f"{plain(configured_value(setting))} configured, {plain(setting.run_value)} running{where}"


def cache_waits(cache: NamedCache) -> str:
    """What of a cache is configured otherwise than it runs, in words; empty where nothing is."""
    return "; ".join(said for _, said, _, _ in _waiting(cache))


def plain(value: object) -> str:
    """A value as `sp_configure` takes it: whole numbers without a point."""
    if isinstance(value, int | float):
        return f"{value:.0f}" if value == int(value) else f"{value:.2f}"
    return str(value)


Values = tuple[float | str | Missing | None, float | str | Missing | None]
"""In force, and configured."""


def _waiting(cache: NamedCache) -> Iterator[tuple[str, str, Values, str]]:
    """What waits: its name, a sentence, the values in force and configured, the argument that takes it back.

    A configured size or number of partitions of 0 says that none was configured, not that 0 waits.
    """
    if cache.status and cache.status.strip().lower() != "active":
        yield "status", f"status {cache.status}", (None, cache.status), ""
    size, ran = cache.config_size_mb, cache.run_size_mb
    if known(size) and known(ran) and size not in (0, ran):
        yield "size", f"{plain(size)} MB configured, {plain(ran)} MB running", (ran, size), f'"{ran:.2f}M"'
    parts, ran = cache.config_partitions, cache.run_partitions
    if known(parts) and known(ran) and parts not in (0, ran):
        said = f"{plain(parts)} partitions configured, {plain(ran)} partitions running"
        yield "cache_partition", said, (ran, parts), f'"cache_partition={ran:.0f}"'
    config, run = (cache.config_replacement or "").strip(), (cache.run_replacement or "").strip()
    if config.lower() != run.lower() and {config.lower(), run.lower()} <= STRATEGIES:
        back = "relaxed" if cache.relaxed else "strict"
        yield "replacement", f"{config} configured, {run} running", (run, config), back


def _cache(cache: NamedCache, what: str, waits: str, values: Values, argument: str) -> Change:
    where = "" if cache.instance is None else f" on instance {cache.instance}"
    subject, named = f"cache {cache.name}:{what}{where}", f"{cache.name}: {what}{where}"
    try:
        name = tsql_string(cache.name)
    except Unquotable:
        return _change(subject, values, None, (), named)
    said = f"-- cache {comment(cache.name)}: {comment(waits)}"
    back = batches(f"sp_cacheconfig {name}, {argument}")
    changing = bool(cache.status) and str(cache.status).strip().lower() != "active"
    if changing or cache.instance is not None:
        back = ("-- it is being made or dropped, or belongs to one instance: by hand",)
    lines = batches(said, f"sp_cacheconfig {name}"), (said, *back)
    return _change(subject, values, lines, (f"ase.cache:{comment(cache.name)}:{what}",), named)


def _change(
    subject: str,
    values: Values,
    lines: tuple[tuple[str, ...], tuple[str, ...]] | None,
    yields_to: tuple[str, ...],
    named: str = "",
) -> Change:
    """One change; where `lines` are missing, by hand. `named`: what its target is called, if not `subject`."""
    apply, undo = lines or ((BY_HAND,), (BY_HAND,))
    old, new = (
        value if isinstance(value, float | int) else None if value is None else comment(str(value)) for value in values
    )
    return Change(
        key=f"ase.restart:{comment(subject)}",
        target=f"{comment(named or subject)}{WAITS}",
        old=old,
        new=new,
        apply=apply,
        undo=tuple(line if line.startswith("--") else f"--   {line}" for line in undo),
        takes_effect=Effect.RESTART if lines else Effect.ADVICE,
        opening=OPENING if lines else (),
        closing=(AFTER,) if lines else (),
        undo_opening=UNDO_OPENING if lines else (),
        undo_closing=UNDO_CLOSING if lines else (),
        yields_to=yields_to,
    )
