"""`python -m tests.train_dictionary NUMBER PRODUCT`: make the dictionary by which exports of a product are packed.

It is trained from the product's own exports: the fixtures of the readers and the examples that the readers take for
the product, but for the stories of the fleet benchmark, so that this goes on measuring exports never seen before.
"""

import argparse
import io
from collections.abc import Iterator
from pathlib import Path

import zstandard

from advisor.uploads.services.packing import DICTIONARIES, ZSTD, dictionaries
from advisor.uploads.services.reading import read_exports

ROOT = Path(__file__).resolve().parent.parent
PLACES = (ROOT / "tests" / "exports", ROOT / "advisor" / "examples")
NO_EXPORTS = (".yml", ".md", ".json")
OF_THE_FLEET = (
    "address_lock_storm",
    "address_lock_storm_before_restart",
    "healthy_ledger_server",
    "lock_bound_node",
    "quiet_two_node_day",
)
BYTES = 64 << 10
"""Of a dictionary: with 16 kB a sp_sysmon report takes 16 % more, with 112 kB no less (measured)."""
SAMPLE = 8 << 10
"""Bytes of one sample: long exports are cut into such pieces."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.train_dictionary")
    parser.add_argument("number", type=int, help="the next one that no dictionary has")
    parser.add_argument("product", help="ase, openvms, … as reports begin: `ase/sp_sysmon`")
    given = parser.parse_args()
    if given.number in dictionaries() or given.number <= ZSTD:
        raise SystemExit(f"{given.number} is taken, and a dictionary is never changed: give the next number")
    DICTIONARIES.mkdir(exist_ok=True)
    path = DICTIONARIES / f"{given.number}_{given.product}.dictionary"
    path.write_bytes(train(given.number, list(samples(given.product))))


def samples(product: str) -> Iterator[bytes]:
    """The exports of a product, in pieces."""
    for path in sorted(path for place in PLACES for path in place.rglob("*")):
        if not path.is_file() or path.suffix in NO_EXPORTS or path.parent.name in OF_THE_FLEET:
            continue
        reports = [one.report for one in read_exports([str(path)], io.BytesIO())]
        if any(report and report.partition("/")[0] == product for report in reports):
            data = path.read_bytes()
            yield from (data[at : at + SAMPLE] for at in range(0, len(data), SAMPLE))


def train(number: int, data: list[bytes]) -> bytes:
    """The bytes of a dictionary of this number; the same samples give the same bytes."""
    return zstandard.train_dictionary(BYTES, [*data], dict_id=number, level=15).as_bytes()


if __name__ == "__main__":
    main()
