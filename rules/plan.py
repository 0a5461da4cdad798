"""All changes of an audit as one plan: ordered, batched by when they take effect, checked against each other."""

import textwrap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from rules.changes.quoting import comment
from rules.finding import Change, Effect, Risk, rounded

ORDER = (Effect.ONLINE, Effect.RESTART, Effect.REBOOT, Effect.OFFLINE)
"""What a script does, in the order of a plan: at once, with the next restart, in an outage of a table or database. What
has nothing to run comes last; first, where a script needs it."""
WHEN = {
    Effect.ONLINE: "now",
    Effect.RESTART: "restart",
    Effect.REBOOT: "reboot",
    Effect.OFFLINE: "outage",
    Effect.ADVICE: "investigate",
}
"""Effect → when a step is made, as the contract prints it."""
RISKS = {
    Effect.ONLINE: Risk("low", "takes effect at once, and so does its undo"),
    Effect.RESTART: Risk("medium", "the server is restarted; if it does not start, start it with the old file"),
    Effect.REBOOT: Risk("medium", "the node is rebooted; the old parameters are kept in a file"),
    Effect.OFFLINE: Risk("high", "users cannot work with it until it is done"),
    Effect.ADVICE: Risk("low", "nothing is run"),
}
"""What a change risks by its effect, where it does not say more itself."""
LEVELS = ("low", "medium", "high")
TAKING = (Effect.ONLINE, Effect.RESTART)
"""Effects whose memory comes out of what a running server has free."""


@dataclass(frozen=True)
class Step:
    """All changes that take effect at the same moment: one restart, not five. Those to be measured singly are apart."""

    takes_effect: Effect
    change_keys: tuple[str, ...]
    apply: str
    undo: str
    node: str = ""
    """The cluster node to run it on, where that is not the capture's own: no step is for two nodes."""
    risk: Risk = RISKS[Effect.ADVICE]
    """The highest of its changes."""
    needs: tuple[str, ...] = ()
    """Keys of changes of earlier steps without which it must not be made."""
    alternatives: tuple[str, ...] = ()
    """Keys of changes that are left out because of this step: to be made in its place, or if it is not enough."""
    copied_pages: float | None = None
    """Of an outage: the pages that are copied, of those changes whose export shows it."""

    after: int | None = None
    """Number of the step, from 1 on, that has to be made before it, where that one is not made at once."""
    waits_for: str = ""
    """When that one is made: what takes effect at once is made with it, not now."""

    @property
    def runs(self) -> bool:
        """Whether there is anything to run."""
        return self.takes_effect is not Effect.ADVICE

    @property
    def when(self) -> str:
        """`now`, `restart`, `reboot`, `outage` or `investigate`."""
        return self.waits_for or WHEN[self.takes_effect]


@dataclass(frozen=True)
class Conflict:
    """Changes that cannot both be made, and why."""

    change_keys: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Plan:
    """What to do, in order; and what excludes what."""

    steps: tuple[Step, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Keys of what is not to be done now → why, for the finding that asked for it. Of two values for one setting
    neither is here: a person decides between them."""
    templates: tuple[str, ...] = ()
    """Keys of templates that name no object: no step, but a note of their finding."""


Asked = tuple[str, float | str | None]
"""Key of a change, and the value that is asked for."""


def make_plan(
    changes: Iterable[Change],
    free_mb: float | None = None,
    reasons: Mapping[Asked, str] | None = None,
    graver: Collection[str] = (),
) -> Plan:
    """Order the changes. The same change asked for twice is made once; two values for one setting are a conflict.

    Of two conflicting values neither is put into a step: a person decides. A change that needs one of them is left out
    with it, and a change that yields to another of the plan is not made at all. A change that needs one of a later
    effect, as what is made of the memory that a restart frees, comes in a step after it. `free_mb`: memory that the
    changes of a server may take together, megabytes; what no longer fits is left out and told. Static ones count too:
    sp_configure refuses what would bring total logical memory over max memory. What a change gives back (its memory is
    negative) is there for those that need it alone, and with none of them left it is not made. `None`: not known, not
    checked. `reasons`: why each value is asked for, said where two are in conflict. `graver`: keys of changes that come
    before the others, whatever their effect, where they wait for none of them: what a critical finding asks for is not
    the second thing to do after what could be done at once.
    """
    why = reasons or {}
    by_key: dict[str, list[Change]] = {}
    for change in changes:
        same = by_key.setdefault(change.key, [])
        asked = next((at for at, other in enumerate(same) if other.new == change.new), None)
        if asked is None:
            same.append(change)
        else:
            same[asked] = _together(same[asked], change)
    disputed = [
        Conflict((key,), f"{same[0].target}: asked to become " + " and ".join(_asked(one, why) for one in same))
        for key, same in by_key.items()
        if len(same) > 1
    ]
    wanted = {key: same[0] for key, same in by_key.items() if len(same) == 1}
    yielding = {key for key, change in wanted.items() if wanted.keys() & set(change.yields_to)}
    agreed, conflicts = _made({key: one for key, one in wanted.items() if key not in yielding}, free_mb)
    # one that yields to what had to be left out is made after all
    back = {key for key in yielding if not (wanted.keys() - yielding - agreed.keys()).isdisjoint(wanted[key].yields_to)}
    back = {key for key in back if not agreed.keys() & set(wanted[key].yields_to)}
    if back:
        agreed, conflicts = _made({key: one for key, one in wanted.items() if key not in yielding - back}, free_mb)
    left_out = {conflict.change_keys[0]: conflict.why for conflict in conflicts}
    left_out |= {key: _waits(wanted[key], agreed) for key in yielding - back}
    conflicts = disputed + conflicts
    templates = _templates(agreed)
    agreed = {key: one for key, one in agreed.items() if key not in templates}
    places = _places(agreed)
    rounds = _rounds(agreed, places)
    batches: dict[tuple[int, int], list[Change]] = {}
    for key, change in agreed.items():
        batches.setdefault((rounds[key], places[key]), []).append(change)
    placed = _gravest_first(
        [part for at in sorted(batches) for wave in _waves(batches[at]) for part in _by_node(wave)], graver
    )
    waves = [sorted(part, key=lambda one: one.after_restart) for part in placed]
    instead: dict[str, list[str]] = {}
    for key in left_out:
        for first in wanted[key].yields_to if key in wanted else ():
            instead.setdefault(first, []).append(key)
    last = [all(one.after_restart for one in wave) for wave in waves]
    steps = _after([_step(wave[0].takes_effect, wave, instead) for wave in waves], last)
    return Plan(tuple(steps), tuple(conflicts), left_out, templates)


def _gravest_first(waves: list[list[Change]], graver: Collection[str]) -> list[list[Change]]:
    """The same batches, those with a graver change before the others that they wait for nothing of."""
    found: list[list[Change]] = []
    for wave in waves:
        at = len(found)
        if any(one.key in graver and one.takes_effect is not Effect.ADVICE for one in wave):
            needed = {key for one in wave for key in (*one.needs, *one.after)}
            while at and not any(one.key in needed or one.key in graver for one in found[at - 1]):
                at -= 1
        found.insert(at, wave)
    return found


def runs_of(plan: Plan) -> frozenset[str]:
    """The keys of the changes that have something to run."""
    return frozenset(key for step in plan.steps if step.runs for key in step.change_keys)


def _after(steps: list[Step], after_restart: list[bool]) -> list[Step]:
    """The steps, each that needs something of a restart or an outage with the number of that step.

    `after_restart`: whether all of a step is done right after a restart, so that it belongs to that of what it needs.
    """
    found: list[Step] = []
    for step, right_after in zip(steps, after_restart, strict=True):
        before = [(number, one) for number, one in enumerate(found, 1) if set(step.needs) & set(one.change_keys)]
        later = [(number, one) for number, one in before if one.when in ("restart", "reboot", "outage")]
        if later and (step.when == "now" or right_after):
            number, one = later[-1]
            step = replace(step, after=number, waits_for=one.when)
        found.append(step)
    return found


def _templates(agreed: Mapping[str, Change]) -> tuple[str, ...]:
    """Templates that name no object and that nothing with a name waits for."""
    awaited = {need for one in agreed.values() if not one.nameless for need in (*one.needs, *one.after)}
    return tuple(key for key, one in agreed.items() if one.nameless and key not in awaited)


def _waits(change: Change, agreed: Mapping[str, Change]) -> str:
    """What is made in place of a change that yields."""
    first = [agreed[key].target for key in change.yields_to if key in agreed]
    more = f" and {len(first) - 2} more" if len(first) > 2 else ""
    return f"{change.target}: first {', '.join(first[:2])}{more}, then measure"


def _made(agreed: dict[str, Change], free_mb: float | None) -> tuple[dict[str, Change], list[Conflict]]:
    """The changes that can be made together, and why the others are left out."""
    for_others = {change.key for change in agreed.values() if change.memory_mb < 0 and _needed(change, agreed)}
    conflicts = _beyond(agreed, free_mb)
    while missing := [change for change in agreed.values() if set(change.needs) - agreed.keys()]:
        for change in missing:
            del agreed[change.key]
            lacking = ", ".join(sorted(set(change.needs) - agreed.keys()))
            conflicts.append(Conflict((change.key, *change.needs), f"{change.target}: only with {lacking}"))
    for key in [key for key in for_others if key in agreed and not _needed(agreed[key], agreed)]:
        conflicts.append(Conflict((key,), f"{agreed.pop(key).target}: only makes room for what is left out"))
    return agreed, conflicts


def _needed(change: Change, agreed: dict[str, Change]) -> bool:
    """Whether any other change needs this one."""
    return any(change.key in other.needs for other in agreed.values())


def _places(agreed: dict[str, Change]) -> dict[str, int]:
    """The place of each change within its round: by its effect; what has nothing to run first or last."""
    awaited: set[str] = set()
    left = [change for change in agreed.values() if change.takes_effect is not Effect.ADVICE]
    while left:
        keys = {key for change in left for key in (*change.needs, *change.after)} & agreed.keys() - awaited
        awaited |= keys
        left = [agreed[key] for key in keys]
    last = len(ORDER) + 1
    return {
        key: (0 if key in awaited else last)
        if change.takes_effect is Effect.ADVICE
        else 1 + ORDER.index(change.takes_effect)
        for key, change in agreed.items()
    }


def _rounds(agreed: dict[str, Change], places: dict[str, int]) -> dict[str, int]:
    """The round of steps of each change: one more than that of what it needs, where that takes effect later.

    What names those that come later is in a round before theirs. What has nothing to run and is needed by nothing comes
    in the last.
    """
    rounds = dict.fromkeys(agreed, 0)
    for _ in agreed:  # as often as the longest chain of needs can be
        for key, change in agreed.items():
            # what has nothing to run waits for what it comes after, too: it is no effect to be ordered by
            order = (*change.needs, *change.after) if change.takes_effect is Effect.ADVICE else change.needs
            for need in (one for one in order if one in agreed):
                rounds[key] = max(rounds[key], min(rounds[need] + (places[need] > places[key]), len(agreed)))
            for later in (one for one in change.before if one in agreed):
                rounds[later] = max(rounds[later], min(rounds[key] + (places[key] >= places[later]), len(agreed)))
    final = max(rounds.values(), default=0)
    return {key: final if places[key] > len(ORDER) else number for key, number in rounds.items()}


def _together(one: Change, other: Change) -> Change:
    """The same change asked for twice: with the cautions and needs of both; what one of them only outlines stays so."""
    kept = other if other.takes_effect is Effect.ADVICE else one
    return replace(
        kept,
        cautions=tuple(dict.fromkeys((*one.cautions, *other.cautions))),
        needs=tuple(dict.fromkeys((*one.needs, *other.needs))),
        after=tuple(dict.fromkeys((*one.after, *other.after))),
        before=tuple(dict.fromkeys((*one.before, *other.before))),
        yields_to=tuple(dict.fromkeys((*one.yields_to, *other.yields_to))),
    )


def _waves(batch: list[Change]) -> list[list[Change]]:
    """Part changes of one effect into steps that can be measured one by one: what comes after another is a later one.

    Changes that wait for each other in a circle are one step: there is no order between them.
    """
    waves: list[list[Change]] = []
    left = batch
    while left:
        keys = {change.key for change in left}
        first = [change for change in left if not keys & set(change.after)] or left
        waves.append(first)
        left = [change for change in left if change not in first]
    return waves


def _by_node(wave: list[Change]) -> list[list[Change]]:
    """Part a step by the nodes that its scripts are run on, in the order of the findings."""
    return [[one for one in wave if one.node == node] for node in dict.fromkeys(change.node for change in wave)]


def _beyond(agreed: dict[str, Change], free_mb: float | None) -> list[Conflict]:
    """Take out the changes for which the memory that is free no longer suffices, in the order of the findings."""
    if free_mb is None:
        return []
    taking = [one for one in agreed.values() if one.takes_effect in TAKING and one.memory_mb > 0]
    freed = {one.key: -one.memory_mb for one in agreed.values() if one.memory_mb < 0}
    left, conflicts = free_mb, []
    for change in taking:
        own = [key for key in change.needs if key in freed]
        given = sum(freed[key] for key in own)
        if change.memory_mb <= left + given + 1e-6:
            wanted = change.memory_mb
            for key in own:
                used = min(wanted, freed[key])
                freed[key], wanted = freed[key] - used, wanted - used
            left -= wanted
            continue
        del agreed[change.key]
        why = f"{change.target}: takes {change.memory_mb:,.1f} MB, and {left + given:,.1f} of "
        why += f"{free_mb + sum(-agreed[key].memory_mb for key in own):,.1f} MB are left: "
        why += f"raise max memory by {change.memory_mb - left - given:,.1f} MB first, if the machine has them"
        conflicts.append(Conflict((change.key,), why))
    return conflicts


def _step(effect: Effect, batch: list[Change], instead: Mapping[str, list[str]]) -> Step:
    """Put the scripts of one batch together; what they share stands in it once.

    `instead`: key of a change → keys of what is left out because of it.
    """
    back = list(reversed(batch))
    own = {change.key for change in batch}
    warned: set[str] = set()
    pages = [change.copied_pages for change in batch if change.copied_pages is not None]
    apply = [
        *dict.fromkeys(block for change in batch if (block := change.opening)),
        *((*_warnings(change, warned), *change.apply) for change in batch),
        *dict.fromkeys(block for change in batch if (block := change.closing)),
    ]
    undo = [
        *dict.fromkeys(block for change in back if (block := change.undo_opening)),
        *(change.undo for change in back),
        *dict.fromkeys(block for change in back if (block := change.undo_closing)),
    ]
    return Step(
        effect,
        tuple(change.key for change in batch),
        _text(apply),
        _text(undo),
        batch[0].node,
        max((change.risk or RISKS[effect] for change in batch), key=lambda risk: LEVELS.index(risk.level)),
        tuple(dict.fromkeys(need for change in batch for need in change.needs if need not in own)),
        tuple(dict.fromkeys(key for change in batch for key in instead.get(change.key, ()))),
        sum(pages) if pages else None,
    )


def _text(blocks: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(line for block in blocks for line in block)


MARKS = {"openvms": "$! ", "rdb": "$! ", "unix": "# "}
"""Beginning of a change's key → how its scripts begin a comment; `SQL_MARK` elsewhere."""
SQL_MARK = "-- "


def _warnings(change: Change, warned: set[str]) -> list[str]:
    """The cautions as comments: a script is read alone, attached to a mail or pasted, without its finding.

    One that stands in the same step already is not repeated; `warned` gathers them.
    """
    mark = MARKS.get(change.key.partition(".")[0], SQL_MARK)
    lines = []
    for caution in change.cautions:
        if caution in warned:
            continue
        warned.add(caution)
        first, *more = textwrap.wrap(comment(caution, longest=2000), 64, break_long_words=False, break_on_hyphens=False)
        lines += [f"{mark}caution: {first}", *(f"{mark}   {line}" for line in more)]
    return lines


def _asked(change: Change, reasons: Mapping[Asked, str]) -> str:
    """The value asked for, and why."""
    why = reasons.get((change.key, change.new))
    return f"{rounded(change.new)} ({why})" if why else rounded(change.new)
