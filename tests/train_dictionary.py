"""`python -m tests.train_dictionary NUMBER USE [PRODUCT]`: make a dictionary by which texts are packed.

Exports of a PRODUCT, or facts, findings and audits (`collectors.packed`) of all. It is trained from the product's own
exports: the fixtures of the readers and the examples, but for the stories of the fleet benchmark, so that this goes on
measuring what was never seen before; of findings and verdicts also from the worked examples of all rules.
"""

import argparse
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import django
import zstandard

from advisor.audits.report.data import capture_data
from advisor.audits.services.examples import examples
from advisor.uploads.services.reading import captures_of, read_exports
from collectors.facts import Capture
from collectors.facts.codec import text_of
from collectors.packed import AUDITS, DICTIONARIES, FACTS, FINDINGS, paths
from rules.audit import audit
from rules.engine import rules
from rules.figures import key_figures

ROOT = Path(__file__).resolve().parent.parent
FIXTURES, EXAMPLES = ROOT / "tests" / "exports", ROOT / "advisor" / "examples"
NO_EXPORTS = (".yml", ".md", ".json")
OF_THE_FLEET = (
    "address_lock_storm",
    "address_lock_storm_before_restart",
    "healthy_ledger_server",
    "lock_bound_node",
    "quiet_two_node_day",
)
BYTES = 64 << 10
"""Of a dictionary: with 16 kB a sp_sysmon report takes 16 % more, a finding 8 % with 32 kB; with 112 kB no less
(measured)."""
SAMPLE = 8 << 10
"""Bytes of one sample: long texts are cut into such pieces."""
FIRST = 10
"""Lower numbers are ways of packing without a dictionary (`advisor.uploads.services.packing`)."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.train_dictionary")
    parser.add_argument("number", type=int, help="the next one that no dictionary has")
    parser.add_argument("use", choices=("exports", FACTS, FINDINGS, AUDITS))
    parser.add_argument("product", nargs="?", help="of exports: ase, openvms, … as reports begin: `ase/sp_sysmon`")
    given = parser.parse_args()
    if given.number in paths() or given.number < FIRST:
        raise SystemExit(f"{given.number} is taken, and a dictionary is never changed: give the next number")
    if (given.use == "exports") != bool(given.product):
        parser.error("exports are those of a product, and nothing else is")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.config.settings")
    django.setup()
    texts = of_exports(given.product) if given.product else OF[given.use]()
    data = [text[at : at + SAMPLE] for text in texts for at in range(0, len(text), SAMPLE)]
    path = DICTIONARIES / given.use / f"{given.number}_{given.product or given.use}.dictionary"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(train(given.number, data))


def exports() -> Iterator[list[str]]:
    """The paths of exports that are read together: each fixture alone, an example with all that is in its folder."""
    for place in (FIXTURES, EXAMPLES):
        folders: dict[Path, list[str]] = {}
        for path in sorted(place.rglob("*")):
            if path.is_file() and path.suffix not in NO_EXPORTS and path.parent.name not in OF_THE_FLEET:
                folders.setdefault(path if place == FIXTURES else path.parent, []).append(str(path))
        yield from folders.values()


def of_exports(product: str) -> Iterator[bytes]:
    """The exports of a product."""
    for path in sorted(path for found in exports() for path in found):
        reports = [one.report for one in read_exports([path], io.BytesIO())]
        if any(report and report.partition("/")[0] == product for report in reports):
            yield Path(path).read_bytes()


def captures() -> Iterator[Capture]:
    for found in exports():
        yield from captures_of(read_exports(found, io.BytesIO()))


def of_facts() -> Iterator[bytes]:
    for found in captures():
        yield text_of(found.facts)


def of_findings() -> Iterator[bytes]:
    """The findings of all audits, and those of the worked examples of all rules."""
    yield from (as_text(finding) for found in audits() for finding in found["findings"])
    told = (one for rule in rules() for one in examples(rule.id))
    yield from (as_text(finding) for one in told for finding in one.findings)


def of_audits() -> Iterator[bytes]:
    """The parts of an audit that are columns of their own, and the figures of its capture."""
    for found in audits():
        yield from (as_text(found[name]) for name in ("verdicts", "plan", "account", "summary"))
    for one in captures():
        yield as_text([[f.key, f.label, f.unit, f.value, f.better] for f in key_figures(one.facts)])
        yield as_text(sorted({fact.fact_name() for fact in one.facts}))
    told = (one for rule in rules() for one in examples(rule.id))
    yield from (as_text([one.verdict]) for one in told if one.verdict)


def audits() -> Iterator[Mapping[str, Any]]:
    for found in captures():
        yield capture_data(audit(found, {}))


def as_text(value: Any) -> bytes:
    """JSON as `advisor.core.packed_json` packs it."""
    return json.dumps(value, separators=(",", ":")).encode()


OF = {FACTS: of_facts, FINDINGS: of_findings, AUDITS: of_audits}


def train(number: int, data: list[bytes]) -> bytes:
    """The bytes of a dictionary of this number; the same samples give the same bytes."""
    return zstandard.train_dictionary(BYTES, [*data], dict_id=number, level=15).as_bytes()


if __name__ == "__main__":
    main()
