"""What the title of a load series tells of its machine: the model, whether it is an emulator, what was switched.

`HP rx4640 (1.10GHz/4.0MB) - 8 cores, without DLM` is an `RX4640` whose dedicated lock manager is off. Two titles that
differ in nothing but such a switch are one machine before and after it.
"""

import re
from dataclasses import dataclass
from typing import Literal

from collectors.facts.scaling.titles import DLM, LONGEST, of_threads, parted
from rules.laws.hardware import EMULATORS

MODELS = re.compile(
    r"\b(?:rx\d{4}|BL\d{3}c|(?:[DEG]S|XP)\d{2,4}[A-Z]?|zx\d{4}|Superdome\w*|VAX(?:station|server)? ?\d{4}|DL\d{3})\b",
    re.IGNORECASE,
)
"""Names of models of the machines that OpenVMS runs on, wherever they stand in a title."""
FIGURES = re.compile(
    r"\(?\b\d{1,5}(?:\.\d{1,3})? ?[MG]Hz\b(?:[,/ ]{0,3}\d{1,3}(?:\.\d{1,2})? ?MB)?\)?"
    r"|\b\d{1,4}[ -](?:cores?|cpus?|processors?)|\b[4-7]/\d{3,4}\b",
    re.IGNORECASE,
)
"""Clock, cache and processors, and `6/667`: what two machines of one model may differ in."""


@dataclass(frozen=True)
class Machine:
    """What a title says."""

    model: str | None
    """In capitals; `None` where no model that is known stands in the title, or several do."""
    rest: str
    """The title without clock, cache, processors and switch."""
    emulator: bool
    """Whether it gives itself away; most emulators borrow the name of a machine."""
    what: str | None = None
    """What was switched: `dlm`, `threads`, else in the words of the title."""
    on: bool | None = None
    whole: str = ""
    """The title without its switch alone."""

    @property
    def names_itself(self) -> bool:
        """Whether the title tells a machine from another one at all."""
        return bool(self.model or self.rest)


def machine_of(title: str) -> Machine:
    """Part the title of a series."""
    rest, switch = parted(title)
    whole = _tidy(rest)
    models = {found.upper().replace(" ", "") for found in MODELS.findall(whole)}
    return Machine(
        models.pop() if len(models) == 1 else None,
        _tidy(FIGURES.sub(" ", whole)),
        EMULATORS.search(title[:LONGEST]) is not None,
        _what(switch),
        _on(switch),
        whole,
    )


def _tidy(text: str) -> str:
    return " ".join(re.sub(r"[\s,;:()-]+", " ", text).split()).casefold()


def _what(switch: re.Match[str] | None) -> str | None:
    if switch is None:
        return None
    if of_threads(switch):
        return "threads"
    return "dlm" if re.fullmatch(DLM, switch["what"] or switch["dlm"], re.IGNORECASE) else switch["what"].casefold()


def _on(switch: re.Match[str] | None) -> bool | None:
    return None if switch is None else (switch["word"] or switch["state"] or switch["run"]).casefold() in ("with", "on")


def same_model(one: Machine, other: Machine) -> bool | None:
    """Whether two titles name one model of hardware; `None` where they do not tell."""
    if one.emulator or other.emulator:
        return False
    if one.model and other.model:
        return one.model == other.model
    if not (one.names_itself and other.names_itself):
        return None
    return True if one.rest == other.rest else False if one.model or other.model else None


Switch = Literal["before", "after"]


def switched(one: str, other: str) -> Switch | None:
    """Where two titles differ in one switch alone: whether the other is the one with it (`after`) or not (`before`)."""
    first, second = machine_of(one), machine_of(other)
    if first.whole != second.whole or first.what is None or first.what != second.what or first.on == second.on:
        return None
    return "after" if second.on else "before"
