"""What has to be there before row caches and page transfer via memory can be used, in the order in which it is made.

After-image journaling, fast commit, one node, then global buffers (page transfer) or a reserved slot (row caches):
knowledge/rdb-rules.md, section 2. Without them Rdb accepts the setting and does not use it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, Source
from collectors.facts.openvms import ClusterNode
from collectors.facts.rdb import Database
from rules.changes.quoting import comment
from rules.changes.rdb_clauses import CLAUSES
from rules.changes.rdb_database import Place, alter, key_of
from rules.finding import Change, Evidence, MissingInput
from rules.openvms._evidence.memory import FreeMemory, free_memory
from rules.rdb._evidence.databases import OneDatabase, node_names
from rules.rdb._evidence.sharing import nodes_without, once_alone, open_elsewhere, other_members, several_nodes

ORDER = ("journal", "fast_commit", "cluster_nodes", "global_buffers", "cache_slots")
GOALS = {
    "fast_commit": ("journal",),
    "row_cache": ("journal", "fast_commit", "cluster_nodes", "cache_slots"),
    "page_transfer": ("journal", "fast_commit", "cluster_nodes", "global_buffers"),
}
"""What each goal needs, in the order in which it is made."""
NEEDS = {"fast_commit": ("journal",)}
"""What a prerequisite needs itself."""
LABELS = {
    "journal": "after-image journaling",
    "fast_commit": "fast commit",
    "cluster_nodes": "a node count of 1",
    "global_buffers": "global buffers",
    "cache_slots": "a reserved cache slot",
}
FIELDS = {"journal": "after_image_journaling", "fast_commit": "fast_commit", "global_buffers": "global_buffers"}
BUFFERS = "when NUMBER IS and USER LIMIT IS have been decided on, and the node has that memory free"
TOGETHER = "only together with the other steps beside it, in one closing of the database"
DERIVED = (
    "when the information table RDB$DATABASE_ROOT shows more than one configured: note that number for the way back, "
    "for the header's may be users ÷ 50"
)
ONE_NODE = (
    "NUMBER OF CLUSTER NODES is 1 (RDB$DATABASE_ROOT tells; a header prints users ÷ 50 at the least) or is set to 1 in "
    "the same closing"
)
ONE_NODE_TOO = "NUMBER OF CLUSTER NODES is set to 1 in the same closing"
ROW_LEVEL = "when it is known that the tables to be cached lie in storage areas with row level locking"
CACHED = "when the rows of {} (storage area {}) have been counted, and the node has the memory for them"
FITS = (
    "when the node has the memory for a cache of the {rows} rows of {of} (storage area {area}): {each} bytes each, "
    "{memory} at least"
)
MEGABYTE = 1_048_576
BLOCK = 512
"""Bytes of a block of OpenVMS."""
MOST_USERS = 500
"""This project: a header that allows more users tells how many there may ever be, not how many buffers to take."""
MOST_AREAS = 3
"""Storage areas that are named."""
CONFIGURED = MissingInput(
    "NUMBER OF CLUSTER NODES as configured",
    "the SQL information table RDB$DATABASE_ROOT, or NUMBER OF CLUSTER NODES from the DBA's own ALTER DATABASE script",
)


@dataclass(frozen=True)
class Step:
    """One prerequisite."""

    clause: str
    met: bool | None
    """`None`: the export cannot tell."""
    value: float | str | None
    """As the export has it."""
    said: str
    source: Source | None
    only: str = ""
    """What has to be known before it is made, for a list: whoever reads the list alone must not take it for a step."""

    @property
    def label(self) -> str:
        """What people call it."""
        return LABELS[self.clause]


def steps_to(goal: str, facts: Facts, one: OneDatabase) -> list[Step]:
    """The prerequisites of `row_cache`, `page_transfer` or `fast_commit`, in order."""
    return [_step(clause, facts, one) for clause in GOALS[goal]]


def unmet(steps: Sequence[Step]) -> list[Step]:
    """Those that the export shows to be missing."""
    return [step for step in steps if step.met is False]


def unsure(steps: Sequence[Step]) -> list[MissingInput]:
    """What to bring for those the export cannot tell, or not exactly."""
    header = [step.label for step in steps if step.met is None and step.clause != "cluster_nodes"]
    nodes = any(step.value is None and step.clause == "cluster_nodes" for step in steps)
    return [
        *([MissingInput(", ".join(header), Database.COLLECTED_BY)] if header else []),
        *([CONFIGURED] if nodes else []),
    ]


def listed(steps: Sequence[Step]) -> str:
    """`1. after-image journaling (disabled), 2. …` for a sentence."""
    return ", ".join(
        f"{number}. {step.label} ({step.said}{f'; {step.only}' if step.only and step.met is False else ''})"
        for number, step in enumerate(steps, 1)
    )


def evidence_of(steps: Sequence[Step]) -> tuple[Evidence, ...]:
    """Each as the export has it."""
    return tuple(Evidence(step.label, step.said, "", step.source) for step in steps if step.source)


def never(one: OneDatabase) -> str:
    """Why one node is out of the question, or an empty text."""
    if len(one.in_use) > 1:
        return f"users attach from {node_names(one.in_use)}, and it works on one node alone"
    if said := several_nodes(one):
        return f"{said}, and it works on one node alone"
    return ""


def active_caches(one: OneDatabase) -> float | None:
    """How many row caches are active; `None`: not in the export.

    0 where the header itself warns of what they lack, or users attach from several nodes: its count of active ones is
    then of those that are defined, as that of its storage areas is (inference; no source says what it counts).
    """
    active = one.figure("active_row_caches")
    return 0.0 if active and (warned(one) or never(one)) else active


def warned(one: OneDatabase) -> bool:
    """Whether the newest header prints a `WARNING:` line, which names what keeps row caches from being active.

    That of the node count counts only where it was not derived from the users (see `Database.nodes`).
    """
    lines = one.headers[-1].warnings if one.headers else ()
    nodes = one.nodes
    proven = nodes is not None and nodes.configured is not None and nodes.configured > 1
    return any(proven or "node count" not in line.lower() for line in lines)


def moved(one: OneDatabase) -> str:
    """A sentence where a database was seen on several nodes, not in use on all; or nothing.

    Nothing for one that is declared for one node already: no such setting is needed.
    """
    if len(one.sightings) < 2 or len(one.in_use) > 1 or one.one_instance:
        return ""
    return (
        f"It was also seen on another node ({node_names(one.sightings)}): no setting for one node is written until it "
        "is known that the others can do without it."
    )


def page_level(one: OneDatabase) -> str:
    """Where locking is at page level: `in AREA_1, AREA_2`, `of the database`, or empty where none is known to be."""
    areas = [comment(area.name, 31) for area in one.areas if area.page_level_locking]
    if not areas:
        return "of the database" if one.is_on("page_level_locking") else ""
    more = f" and {len(areas) - MOST_AREAS} more" if len(areas) > MOST_AREAS else ""
    return f"in {', '.join(areas[:MOST_AREAS])}{more}"


def not_by_page(one: OneDatabase) -> tuple[str, str]:
    """What page level locking means for a row cache, and what comes first for it; empty where there is none.

    That both exclude each other is recalled: no text that was read says so. That page locks then stand in for those of
    rows, and are held to the end of the transaction, is the vendor's (help on CREATE STORAGE AREA, LOCKING level).
    """
    where = page_level(one)
    if not where:
        return "", ""
    return (
        f"Locking is at page level {where}: page locks stand in for those of rows there, by design, and a row cache "
        "needs row level locking (recalled, not confirmed).",
        "LOCKING IS ROW LEVEL has to come first for an area whose tables are to be cached, and takes more locks; so no "
        "script is given.",
    )


def place_of(facts: Facts, one: OneDatabase) -> Place:
    """The database as `rules.changes.rdb_database` wants it."""
    mode = one.word("open_mode")
    by_hand = any(use.opened_by_operator for use in one.uses) or None
    elsewhere = open_elsewhere(facts, one)
    others = other_members(facts, one) if elsewhere is False else ()
    uncounted = one.is_on("statistics_enabled") is False
    without = tuple(found.node for found in nodes_without(facts, one)) if not facts.every(ClusterNode) else ()
    mode = mode.upper() if mode else None
    return Place(one.root, mode, by_hand, elsewhere, others, without, one.another_time, uncounted)


def changes_of(goal: str, facts: Facts, one: OneDatabase) -> tuple[Change, ...]:
    """The changes that make the missing prerequisites of a goal, in order.

    What rests on one that a person has to make or look up first is a template in comments. Empty where several nodes
    have the database open and one is needed: then the goal cannot be reached at all. Where no row cache is defined, or
    counted as active, the prerequisites of row caches are templates, for by themselves they are of no use; one node is,
    and has its own rule.
    """
    if goal == "row_cache" and not (one.caches or one.figure("active_row_caches")):
        made = _made(goal, facts, one, TOGETHER)
        return tuple(change for clause, change in made.items() if clause != "cluster_nodes")
    made = _made(goal, facts, one)
    if any(_template(change) for change in made.values()) or (goal == "row_cache" and page_level(one)):
        made = _made(goal, facts, one, TOGETHER)
    return tuple(made.values())


def changes_to(
    goal: str,
    facts: Facts,
    one: OneDatabase,
    old: float | str | None,
    new: str,
    fill: Mapping[str, str] | None = None,
    *,
    only: str = "",
) -> tuple[Change, ...]:
    """As `changes_of`, and at last the goal's own change. Empty where the goal cannot be reached.

    `only`: what has to be seen first, for a sentence; the last is then a template in comments alone.
    `fill`: what is known of that which stands in <> in the template of the last.
    """
    if _beyond_reach(goal, facts, one):
        return ()
    made, place = _made(goal, facts, one), place_of(facts, one)
    blocked = _blocked(GOALS[goal], steps_to(goal, facts, one), made)
    if goal == "row_cache" and page_level(one):
        blocked = " and ".join(filter(None, (blocked, ROW_LEVEL)))
    last = "new_row_cache" if goal == "row_cache" and not one.caches else goal
    if blocked:  # what a person has to make first would leave the others without their use: one closing for all
        made = _made(goal, facts, one, TOGETHER)
    elif CLAUSES[last].template:  # one node is of use by itself, the others are not
        made = _made(goal, facts, one, TOGETHER, but="cluster_nodes")
    needs = tuple(change.key for change in made.values())
    template = CLAUSES[last].template
    if fill and (name := fill.get("<area>") or fill.get("<number>")):
        of, area = comment(fill.get("<cache>", "its tables"), 60), comment(name, 31)
        template = CACHED.format(of, area)
        if rows := fill.get("<rows>"):
            size = memory(int(rows) * int(fill["<bytes>"]))
            template = FITS.format(rows=f"{int(rows):,}", of=of, area=area, each=fill["<bytes>"], memory=size)
    when = " and ".join(filter(None, (only, blocked, template))) if only or blocked or fill else ""
    return (*made.values(), alter(last, place, old, new, needs=needs, when=when, fill=fill))


def memory(size: float) -> str:
    """Bytes for a sentence: `12.5 MB`, and `50 kB` of what is too small for one decimal."""
    return f"{size / MEGABYTE:,.1f} MB" if size >= MEGABYTE / 10 else f"{-(-size // 1024):,.0f} kB"


def set_in_vain(facts: Facts, one: OneDatabase) -> list[Step]:
    """What page transfer via memory lacks where it is set: pages then go over the disk all the same."""
    return unmet(steps_to("page_transfer", facts, one)) if one.word("page_transfer") == "memory" else []


def _beyond_reach(goal: str, facts: Facts, one: OneDatabase) -> bool:
    steps = steps_to(goal, facts, one)
    nodes = any(step.clause == "cluster_nodes" and step.met is not True for step in steps)
    return nodes and open_elsewhere(facts, one) is True


def _made(goal: str, facts: Facts, one: OneDatabase, wait: str = "", but: str = "") -> dict[str, Change]:
    """The changes of the missing prerequisites by clause; templates, where there is something to `wait` for.

    `but`: the clause that waits for nothing.
    """
    if _beyond_reach(goal, facts, one):
        return {}
    place, steps = place_of(facts, one), steps_to(goal, facts, one)
    made: dict[str, Change] = {}
    for step in unmet(steps):
        change = _change(step, place, steps, made, "" if step.clause == but else wait, _buffers(facts, one))
        if step.clause == "global_buffers":  # a template: enabled by themselves they have a size that nobody chose
            sized = (line.replace("ARE ENABLED;", f"ARE ENABLED ({_sized(one)});") for line in change.apply)
            change = replace(change, apply=tuple(sized))
        made[step.clause] = change
    return made


def change_nodes(facts: Facts, one: OneDatabase, cautions: tuple[str, ...] = ()) -> Change:
    """One node alone, for a database that is open on no other."""
    nodes = one.nodes
    return alter("cluster_nodes", place_of(facts, one), nodes.configured if nodes else None, 1, cautions=cautions)


@dataclass(frozen=True)
class _Buffers:
    """How many global buffers the users need to have as many as now; all figures are of the header but `users`."""

    each: float
    users: float
    blocks: float | None
    whose: str
    """`at most `, where nobody counted the users."""

    @property
    def number(self) -> float:
        """All together."""
        return self.each * self.users

    def said(self, free: FreeMemory | None) -> str:
        """For a sentence, with the memory that they take and what is free of it."""
        size = f", {memory(self.number * self.blocks * BLOCK)}" if self.blocks else ""
        room = f"; {free.said}" if free else ""
        return f"{self.number:,.0f}{size}, for {self.whose}{self.users:,.0f} users of {self.each:,.0f} buffers{room}"


def _wanted(one: OneDatabase) -> _Buffers | None:
    """As many as the users have now; of users nobody counted the most that there may be, where those are not many."""
    each, counted, most = one.figure("user_buffer_count"), _most_users(one), one.figure("maximum_users")
    blocks = one.figure("buffer_blocks")
    if each and counted:
        return _Buffers(each, counted, blocks, "")
    return _Buffers(each, most, blocks, "at most ") if each and most and most <= MOST_USERS else None


def _buffers(facts: Facts, one: OneDatabase) -> str:
    """What has to be decided on before global buffers; with as many as the users have now, where both are known."""
    wanted = _wanted(one)
    return f"{BUFFERS} (as many as now: {wanted.said(free_memory(facts))})" if wanted else BUFFERS


def buffers_needed(facts: Facts, one: OneDatabase) -> str:
    """How many global buffers, and that those of the header are too few, a sentence; empty where not known."""
    wanted, number, limit = _wanted(one), one.figure("global_buffer_count"), one.figure("user_limit")
    if wanted is None:
        return ""
    few = (
        f"; NUMBER {number:,.0f} and USER LIMIT {limit:,.0f} of the header are too few"
        if number and limit and (number < wanted.number or limit < wanted.each)
        else ""
    )
    return f"As many as now are {wanted.said(free_memory(facts))}{few}."


def _most_users(one: OneDatabase) -> float | None:
    return max((seen.users for seen in one.in_use if seen.users), default=None)


def _sized(one: OneDatabase) -> str:
    """What stands in the brackets of global buffers: as many as the users have now, else what is to be decided on."""
    wanted = _wanted(one)
    if wanted is None:
        return "NUMBER IS <buffers>, USER LIMIT IS <buffers>"
    return f"NUMBER IS {wanted.number:.0f}, USER LIMIT IS {wanted.each:.0f}"


def _change(
    step: Step, place: Place, steps: Sequence[Step], made: dict[str, Change], wait: str, buffers: str = BUFFERS
) -> Change:
    before = NEEDS.get(step.clause, ())
    needs = tuple(key_of(clause, place) for clause in before if clause in made)
    when = buffers if step.clause == "global_buffers" else _blocked(before, steps, made)
    own = CLAUSES[step.clause].template
    if step.clause == "cluster_nodes" and step.value is None:
        when = f"{DERIVED}; {wait}" if wait else DERIVED
    when = when or (f"{own}; {wait}" if own and wait and step.clause != "journal" else "" if own else wait)
    new: float | str = 1 if step.clause in ("cluster_nodes", "cache_slots") else "ENABLED"
    old = step.value if step.clause in ("cluster_nodes", "cache_slots") else "DISABLED"
    return alter(step.clause, place, old, new, needs=needs, when=when)


def _blocked(before: Sequence[str], steps: Sequence[Step], made: dict[str, Change]) -> str:
    """What has to come first by hand, in words; empty where a script can go on."""
    open_ones = [
        step
        for step in steps
        if step.clause in before and (step.met is None or (step.clause in made and _template(made[step.clause])))
    ]
    # with so many users a header never shows one node, so it is not waited for
    one_node = next((step for step in open_ones if step.clause == "cluster_nodes"), None)
    nodes = [ONE_NODE if one_node.met is None else ONE_NODE_TOO] if one_node else []
    shown = [step.label for step in open_ones if step is not one_node]
    header = f"a new header shows {' and '.join(shown)}" if shown else ""
    said = " and ".join(filter(None, (header, *nodes)))
    return f"when {said}" if said else ""


def _template(change: Change) -> bool:
    return all(line.startswith("$!") for line in change.apply)


def _step(clause: str, facts: Facts, one: OneDatabase) -> Step:
    if clause == "cluster_nodes":
        found = _nodes(one)
        unknown = found.met is False and open_elsewhere(facts, one) is None
        return replace(found, only=once_alone(facts, one)) if unknown else found
    if clause == "cache_slots":
        slots, read = one.figure("reserved_row_caches"), one.read("reserved_row_caches")
        if slots is None:
            return Step(clause, None, None, "not in the export", None)
        return Step(clause, slots > 0, slots, f"{slots:g} reserved", read.source if read else None)
    read, met = one.read(FIELDS[clause]), one.is_on(FIELDS[clause])
    if read is None or met is None:
        return Step(clause, None, None, "not in the export", None)
    said = "enabled" if met else "disabled"
    return Step(clause, met, said.upper(), said, read.source)


def _nodes(one: OneDatabase) -> Step:
    nodes, single = one.nodes, one.read("single_instance")
    if single and single.value:
        return Step("cluster_nodes", True, "SINGLE INSTANCE", "single instance", single.source)
    if nodes is None:
        return Step("cluster_nodes", None, None, "not in the export", None)
    if nodes.configured is None and nodes.warned:
        return Step("cluster_nodes", False, None, f"at most {nodes.printed:g} configured", nodes.source)
    if nodes.configured is None:
        return Step("cluster_nodes", None, None, nodes.trap, nodes.source)
    said = f"{nodes.configured:g} configured"
    return Step("cluster_nodes", nodes.configured == 1, nodes.configured, said, nodes.source)
