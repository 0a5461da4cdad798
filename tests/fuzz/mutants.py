"""Where mutants come from, and what may become of one: its faults, none of which may be."""

import functools
import io
import random
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from advisor.audits.services.auditing import run_audit
from collectors.faults import OURS
from collectors.read import Input, read_stream
from tests.facts_yml import load
from tests.fuzz.damage import damaged, encoded
from tests.fuzz.impossible import impossible
from tests.recordings import build
from tests.stories import STORIES

TESTS = Path(__file__).parent.parent
EXPORTS = sorted(path for path in (TESTS / "exports").glob("*/*/*") if path.suffix not in (".yml", ".zip", ".gz"))
FOREIGN_LINES = 60


@dataclass(frozen=True)
class Origin:
    """What is damaged: one export, or the exports of a story, one of which is."""

    path: Path

    @property
    def name(self) -> str:
        """As `--only` finds it."""
        return str(self.path.relative_to(TESTS.parent))

    @functools.cached_property
    def files(self) -> dict[str, bytes]:
        """The undamaged exports by name."""
        if self.path.is_file():
            return {self.path.name: self.path.read_bytes()}
        paths = (path for path in sorted(self.path.rglob("*")) if path.is_file())
        return {
            str(path.relative_to(self.path)): build(load(path)["recording"])
            if path.suffix == ".yml"
            else path.read_bytes()
            for path in paths
            if path.name not in ("story.yml", "verdicts.yml")
        }

    @functools.cached_property
    def system(self) -> str | None:
        """What a story calls the system."""
        return load(self.path / "story.yml").get("name") if self.path.is_dir() else None

    @functools.cached_property
    def allowed(self) -> frozenset[tuple[str, str, str]]:
        """What the undamaged exports say, too: per cent of something that is above 100 by right."""
        return frozenset(impossible(run_audit(self.read(self.files), {}, self.system)))

    def mutant(self, seed: int, among: Sequence[str] | None = None) -> dict[str, bytes]:
        """The exports with one of them damaged; `among`: the lines that may get into it, else those of all exports."""
        chance = random.Random(f"{self.name}:{seed}")
        file = chance.choice(sorted(self.files))
        text = self.files[file].decode("latin-1" if b"\0" in self.files[file] else "utf-8", "replace")
        return {**self.files, file: encoded(damaged(text, chance, foreign() if among is None else among), chance)}

    def faults(self, seed: int) -> list[str]:
        """What is wrong with what becomes of this mutant; nothing, if all is well."""
        files = self.mutant(seed)
        try:
            inputs = self.read(files)
            audits = run_audit(inputs, {}, self.system)
        except Exception:  # noqa: BLE001 - whatever it is, it is a fault
            return [traceback.format_exc()]
        found = [f"{one.file}: {said}" for one in inputs for said in one.problems if OURS in said]
        for one in inputs:
            lines = files[one.file].count(b"\n") + files[one.file].count(b"\r") + 1
            found += [
                f"{one.file}: {fact.fact_name()} stands in lines {fact.source.first} to {fact.source.last} of {lines}"
                for fact in one.facts
                if one.report not in RECORDED and not 0 <= fact.source.first <= fact.source.last <= lines
            ]
        found += [f"{one.rule} broken: {one.why}" for a in audits for one in a.verdicts if one.verdict == "broken"]
        odd = impossible(audits)
        return found + [": ".join((*fault, odd[fault])) for fault in odd if fault not in self.allowed]

    def read(self, files: dict[str, bytes]) -> list[Input]:
        """What readers make of them."""
        return [one for name, data in files.items() for one in read_stream(name, io.BytesIO(data))]


RECORDED = ("openvms/monitor_recording",)
"""Their sources are numbers of records."""


@functools.cache
def foreign() -> tuple[str, ...]:
    """Lines of all exports."""
    texts = (path.read_bytes().decode("latin-1") for path in EXPORTS)
    return tuple(sorted({line for text in texts for line in text.split("\n")[:FOREIGN_LINES]}))


def origins() -> list[Origin]:
    """All there are: exports first, then stories."""
    return [Origin(path) for path in (*EXPORTS, *STORIES)]
