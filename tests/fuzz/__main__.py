"""Try many mutants and print those that fail, each with what makes it again."""

import argparse
import os
import random
import sys
from collections import Counter

import django


def main() -> int:
    """Run; the exit status says whether one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="mutants to try (default 1,000)")
    parser.add_argument("--seed", type=int, default=None, help="the first seed; each mutant takes the next one")
    parser.add_argument("--only", default="", metavar="WORD", help="sources whose path has this word in it")
    parser.add_argument("--show", action="store_true", help="print the damaged exports of the mutants that fail")
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.config.settings")
    django.setup()
    from tests.fuzz.mutants import origins

    every = origins()
    found = [one for one in every if one.name == given.only] or [one for one in every if given.only in one.name]
    if not found:
        parser.error(f"no source has {given.only!r} in its path")
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    sys.stdout.write(f"{given.count:,} mutants of {len(found):,} sources, seeds from {seed}\n")
    failed: Counter[str] = Counter()
    for number in range(seed, seed + given.count):
        origin = found[number % len(found)]
        if faults := origin.faults(number):
            failed[faults[0].strip().split("\n")[-1][:160]] += 1
            sys.stdout.write(f"--only {origin.name} --seed {number}\n  " + "\n  ".join(faults) + "\n")
            if given.show:
                for name, data in origin.mutant(number).items():
                    sys.stdout.write(f"--- {name}\n{data.decode('utf-8', 'replace')}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{sum(failed.values()):,} of {given.count:,} failed\n")
    for what, times in failed.most_common():
        sys.stdout.write(f"{times:6,}  {what}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
