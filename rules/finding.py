"""What a rule can say: findings with evidence and changes, or one of the quiet verdicts with its reason."""

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from collectors.facts import Fact, Source
from rules.laws.rounding import plain

LONGEST_PART = 360
"""Characters of one part of a text (what was seen, what to do, …) at the most, so that it is read."""


class Severity(enum.IntEnum):
    """How loud. `note` is for what a healthy system may show."""

    NOTE = 1
    ADVICE = 2
    WARNING = 3
    CRITICAL = 4

    @property
    def label(self) -> str:
        """As the contract prints it."""
        return self.name.lower()


class Effect(enum.Enum):
    """When a change takes effect. The order of a plan is that of `rules.plan`."""

    ADVICE = "advice"
    ONLINE = "online"
    OFFLINE = "offline"
    RESTART = "restart"
    REBOOT = "reboot"


@dataclass(frozen=True)
class Evidence:
    """One figure that was read or computed, where it stands, and the limit it was held against."""

    metric: str
    value: float | str
    unit: str
    source: Source
    limit: float | None = None
    computed: str = ""
    """How it was computed, where the lines cited do not print it, to stand behind "computed": `from this line`,
    `as the mean of 36 lines`. Empty for a figure that was read; the engine says what a rule does not."""


@dataclass(frozen=True)
class Cost:
    """Processors' worth of time lost, with the range the export leaves open."""

    processors: float
    low: float
    high: float
    of_capture: bool = True
    """Whether the capture itself lost it. `False`: a test run, a load series or an idle CPU; severity does not follow
    from it then."""


@dataclass(frozen=True)
class Risk:
    """How much a change risks, and why."""

    level: str
    """`low`, `medium` or `high`."""
    why: str


TAKES_A_CPU = Risk("medium", "takes a CPU from other work; it is given back at once")
"""Of dedicating a CPU to the lock manager, and of stopping one."""
QUIET_TIME = Risk("medium", "at a quiet time: it is locked meanwhile, and its pages are read from disk again")
"""Of binding a table or index to a cache."""
PLACEHOLDER = re.compile(r"<(?:table|owner|database|index)>")
"""What a template has in place of a name that no export shows."""


class RefusedValue(ValueError):
    """A value that the system would refuse to be set to: never printed. The message gives value and range."""


SIZE = re.compile(r"(\d+)((?:\.\d+)? [KMGT]B(?: in \d+ partitions)?)")
"""A size that is a text, as the changes of caches have it."""


def grouped(text: str) -> str:
    """A text that is a size with its thousands by comma (`30038 MB` → `30,038 MB`); any other text as it is."""
    size = SIZE.fullmatch(text)
    return f"{int(size[1]):,}{size[2]}" if size else text


def rounded(value: float | str | None) -> str:
    """A value as a person writes it: three digits where it is no whole number, thousands by comma; `?` for none."""
    if value is None or isinstance(value, str):
        return grouped(value or "?")
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else plain(value, 3)


@dataclass(frozen=True)
class Change:
    """One setting: old value, new value, and the text that applies and undoes it, line by line."""

    key: str
    target: str
    old: float | str | None
    new: float | str | None
    apply: tuple[str, ...]
    undo: tuple[str, ...]
    takes_effect: Effect
    cautions: tuple[str, ...] = ()
    memory_mb: float = 0.0
    """Memory the change takes (negative: gives back), for the plan's check against what is free."""
    opening: tuple[str, ...] = ()
    """Lines before `apply` that several changes of one batch need once: keep a copy of all parameters."""
    closing: tuple[str, ...] = ()
    """Lines after `apply` that a batch needs once: one AUTOGEN, one reboot; all of what is done after a restart."""
    undo_opening: tuple[str, ...] = ()
    undo_closing: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Keys of changes without which this one must not be made: it leaves the plan with them."""
    after: tuple[str, ...] = ()
    """Keys of changes to be made and measured before this one: where the plan holds them too, it is a later step."""
    before: tuple[str, ...] = ()
    """Keys of changes that come in a later step than this one, where the plan holds them too, whatever they ask for."""
    yields_to: tuple[str, ...] = ()
    """Keys of changes that make this one pointless: where the plan holds one of them, this one is left out."""
    node: str = ""
    """The cluster node that the script is run on; in an audit empty where that is the capture's own system."""
    comes_along: str = ""
    """What every restart would take if this change is not made before it, as a caution for those restarts."""
    risk: "Risk | None" = None
    """What making it risks, where its effect does not say so already (`rules.plan.RISKS`)."""
    condition: str = ""
    """What has to come first, as a clause: its line of the plan says so, lest a template be taken for a step."""
    copied_pages: float | None = None
    """Of an outage: how many pages are copied meanwhile, where an export shows it."""

    @property
    def nameless(self) -> bool:
        """Whether it is a template that names no object: nothing to be done before somebody has found out which."""
        return self.takes_effect is Effect.ADVICE and bool(PLACEHOLDER.search(" ".join((self.target, *self.apply))))

    @property
    def statement(self) -> str:
        """The SQL that a template has in comments, in one line: `ALTER DATABASE … (…)`; empty where it has none."""
        if self.takes_effect is not Effect.ADVICE:
            return ""
        found: list[str] = []
        for line in self.apply:
            text = line.removeprefix("$!").strip()
            if text.startswith("ALTER DATABASE"):
                found.append(text)
            elif found and not found[-1].endswith(";") and line.startswith("$!     "):
                found[-1] = f"{found[-1]} {text}"
        return "; then ".join(one.removesuffix(";") for one in found)

    @property
    def after_restart(self) -> bool:
        """Whether all of it is done right after a restart of the server, so that it asks for none of its own."""
        return self.takes_effect is Effect.RESTART and not self.apply

    @property
    def script(self) -> tuple[str, ...]:
        """The whole text that applies this change alone."""
        return (*self.opening, *self.apply, *self.closing)

    @property
    def way_back(self) -> tuple[str, ...]:
        """The whole text that undoes this change alone."""
        return (*self.undo_opening, *self.undo, *self.undo_closing)


@dataclass(frozen=True)
class Expectation:
    """What should be seen after the change, and why one may expect it."""

    metric: str
    before: float | str | None
    after: float | str | None
    basis: str
    """`arithmetic`, `law` (a fitted model), `measured` (in a test of this very system), `published` (with a source) or
    `heuristic`."""


@dataclass(frozen=True)
class Finding:
    """A statement about one object, with its proof. Its text has four parts, of which pages, mail and text choose."""

    subject: str
    severity: Severity
    title: str
    seen: str
    """What is seen, with the figures; one or two sentences, as in each part."""
    evidence: tuple[Evidence, ...]
    cost: Cost | None = None
    explains: tuple[str, ...] = ()
    """Ids of rules whose findings this one causes; `openvms/spinlock_hot:LCKMGR`: those whose subject ends so."""
    changes: tuple[Change, ...] = ()
    expects: tuple[Expectation, ...] = ()
    weight: float | None = None
    """What it weighs among findings of the same cost and severity, in a unit that those share: of a spinlock its
    spins. `None` where the export has no such count."""
    share: float | None = None
    """Of the same weight, or where nothing is weighed: a share in per cent to order by. Of a spinlock it is its
    contention, of what is searched in a cache its part of that."""
    because: str = ""
    """What causes it, or why it matters here."""
    do: str = ""
    """What to do, or why nothing is to be done yet."""
    unknown: str = ""
    """What these exports do not show, and what would show it; what the figures cannot bear."""
    ended: str = ""
    """Why nothing is to be changed for its figures, as a clause: they are of before the last start, or of both sides of
    a boot."""
    again: bool = False
    """Whether it says what to collect in place of figures that have ended."""
    once: bool = False
    """Whether it rests on too few reports to change anything for it: the verdict names it, and more are asked for."""
    blind: bool = False
    """Whether it says that what was collected was not measured: the verdict is that, where most rules cannot judge."""
    urgent: bool = False
    """Whether somebody waits at this moment, or is about to: what is to be done comes before everything else."""

    @property
    def says(self) -> str:
        """The four parts in one."""
        return joined(self.seen, self.because, self.do, self.unknown)

    def may_cause(self, other: "Finding") -> bool:
        """A note is the cause of nothing graver: what counts would stand folded under what hardly does."""
        return self.severity is not Severity.NOTE or other.severity is Severity.NOTE

    def keeping(self, changes: tuple[Change, ...], do: str) -> "Finding":
        """With these of its changes alone, and what to do instead; what it expects goes with the last of them."""
        return replace(self, do=do, changes=changes, expects=self.expects if changes else ())

    def adding(self, *, because: str = "", do: str = "", unknown: str = "") -> "Finding":
        """With more said at the end of its parts."""
        return replace(
            self,
            because=joined(self.because, because),
            do=joined(self.do, do),
            unknown=joined(self.unknown, unknown),
        )


def within(text: str) -> str:
    """A sentence as a clause within another: without its capital, where that is no part of a name, as in `IOLOCK8`."""
    first = text.partition(" ")[0]
    return f"{first.lower()}{text[len(first) :]}" if first[1:].islower() or len(first) == 1 else text


def capitalized(text: str) -> str:
    """A clause as the beginning of a sentence: the rest keeps its capitals, as those of names."""
    return f"{text[:1].upper()}{text[1:]}"


def enumerated(names: Sequence[str]) -> str:
    """`ORKNEY, SKYE and MULL`; a single one is itself, and none is empty."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def joined(*sentences: str) -> str:
    """Sentences in one paragraph, without those that are empty."""
    return " ".join(one for one in sentences if one)


@dataclass(frozen=True)
class Span:
    """How long something was counted, where no heading of its file says it: two writes of a screen, so far apart."""

    seconds: float
    command: str
    """What to collect for a longer one."""


@dataclass(frozen=True)
class Clean:
    """Judged and in order; `why` carries the figures."""

    why: str
    measured: tuple[Source, ...] = ()
    """Where the measured figures stand that make it so: of less than the rule's sample they say nothing, and the engine
    makes it unknown. Empty where settings alone do, or what no length would change."""
    span: Span | None = None


@dataclass(frozen=True)
class MissingInput:
    """A fact that is missing, and the command whose output would supply it."""

    fact: str
    command: str


@dataclass(frozen=True)
class Unknown:
    """Cannot be judged: what is missing, and what to bring."""

    missing: tuple[MissingInput, ...]
    why: str = ""

    @classmethod
    def of(cls, *kinds: type[Fact]) -> "Unknown":
        """Say that no fact of these types was there."""
        return cls(tuple(MissingInput(kind.fact_name(), kind.COLLECTED_BY) for kind in kinds))

    @classmethod
    def without(cls, fact: str, command: str, why: str = "") -> "Unknown":
        """Say which one thing is missing, and the command that shows it."""
        return cls((MissingInput(fact, command),), why)


@dataclass(frozen=True)
class Untrusted:
    """The figures cannot be believed, and why."""

    why: str


@dataclass(frozen=True)
class NotApplicable:
    """The rule does not concern this system: another release, one engine, …"""

    why: str


Outcome = Finding | Clean | Unknown | Untrusted | NotApplicable


@dataclass(frozen=True)
class Verdict:
    """What one rule concluded for one capture, silence included."""

    rule: str
    verdict: str
    """`fired`, `clean`, `unknown`, `not-applicable`, `untrusted` or `broken`."""
    why: str
    missing: tuple[MissingInput, ...] = ()
    findings: tuple[Finding, ...] = field(default=())
