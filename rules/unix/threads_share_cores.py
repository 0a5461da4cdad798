"""Processors of a lock test are threads that share cores.

Finds: runs of a lock test on a Linux machine where `smt/active` is 1, that kept more than one processor busy. Each
thread of a core counts as a processor there, in CPU seconds as well as in the number of processors.

Why it matters: two threads of a core that are both busy are slower than on cores of their own, and their CPU seconds
grow for the same work. So throughput over the number of processes bends before the locks are at fault, and the variant
that waits less, as a rule the finer one, looks dearer in user time than it is.

What to do: where locking alone is to be seen, measure again with one thread of each core, on a machine for tests:
`smt/control` off and on again, or processes kept to one thread of each pair by `taskset` (`topology/
thread_siblings_list` shows the pairs). Compare runs with as many busy threads of a core or none.

When to ignore it: where the clock time of the machine as it is used is all that matters. How many threads a core has,
and where the processes ran, is in no export, so this is a caution and never more than a note.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.unix import LockingRun, Multithreading
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown
from rules.unix._evidence.runs import counted

LINKS = ("https://docs.kernel.org/admin-guide/hw-vuln/l1tf.html",)
ON = "smt/active is 1: threads share cores"


@dataclass(frozen=True)
class Limits:
    """From when on two threads of a core may have been busy at once."""

    processors: float = limit(
        1.5, "this project: with fewer kept busy two threads of a core are seldom busy at once", low=1, unit="CPUs"
    )


@rule(needs=(Multithreading,), uses=(LockingRun,), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the run of each table that kept most processors busy."""
    told = [one for one in facts.every(Multithreading) if one.active is not None]
    runs = facts.every(LockingRun)
    if not told:
        yield Unknown.without("smt/active", Multithreading.COLLECTED_BY, "smt/active says neither 0 nor 1")
    elif not told[-1].active:
        yield Clean("smt/active is 0: no two processors share a core")
    elif not runs:
        yield NotApplicable(f"{ON}, and no runs of a lock test were collected")
    else:
        for title in dict.fromkeys(run.title for run in runs):
            yield _judge(title, [run for run in runs if run.title == title], told[-1], limits)


def _judge(title: str, runs: list[LockingRun], threads: Multithreading, limits: Limits) -> Outcome:
    several = [run for run in runs if run.processes > 1]
    if not several:
        return Clean(f"{title}: {ON}, and one process shares its core with no other of the test")
    busy = [(used, run) for run in several if (used := run.processors_used) is not None]
    if not busy:
        lacks = Unknown.without("user, system and clock seconds of the runs", LockingRun.COLLECTED_BY)
        return Unknown(lacks.missing, f"{title}: {ON}; how many processors the runs kept busy cannot be told")
    most, run = max(busy, key=lambda one: one[0])
    if most < limits.processors:
        return Clean(f"{title}: {ON}; at most {most:.1f} processors were busy (limit {limits.processors:g})")
    return Finding(
        subject=title,
        severity=Severity.NOTE,  # a caution: where the processes ran is in no export
        title=f"Threads of a core count as processors in runs that kept up to {most:.1f} busy",
        seen=(
            f"smt/active is 1, so processors are threads that share cores, and {run.name} with "
            f"{counted(run.processes)} kept {most:.1f} of them busy."
        ),
        because=(
            "Two busy threads of one core are slower than two cores, so CPU seconds grow for the same work and "
            "throughput bends with more processes. Some of what looks like the cost of locks may be that."
        ),
        do=(
            "To see locking alone, measure again on a machine for tests with one thread of each core (`smt/control`, "
            "or `taskset` by `topology/thread_siblings_list`). Where the machine is to be used as it is, do nothing."
        ),
        unknown="How many threads a core has, and on which of them the processes ran, is not in the export.",
        evidence=(
            Evidence("smt/active", 1.0, "", threads.source),
            Evidence(
                f"processors kept busy, {run.name}, {counted(run.processes)}",
                round(most, 2),
                "CPUs",
                run.source,
                limits.processors,
            ),
        ),
    )
