"""`make accept`: rewrite the machine's verdicts of every story and what came out whole; the diff is the review.

With words, as `make accept ONLY=ase/blocked_chain`, only what the tests accept whose names have one of them, and the
verdicts of the stories; what else is accepted stays.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests import whole
from tests.stories import STORIES, audits_of, dump, verdicts_of

WHOLE = [f"tests/test_{name}.py" for name in ("findings", "exports", "audits", "comparisons", "comparison_stories")]
HELD = "not test_of_every"
"""Those that hold what is accepted against what there is are for afterwards."""


def main(words: list[str]) -> int:
    for story in STORIES:
        (story / "verdicts.yml").write_text(dump(verdicts_of(audits_of(story))), encoding="utf-8")
    only = f"({' or '.join(words)}) and {HELD}" if words else HELD
    with TemporaryDirectory() as folder:
        os.environ[whole.ACCEPT_INTO] = folder
        # some take a thousand times as long as others
        aside = [f"-n{os.cpu_count()}", "--dist", "worksteal", "-p", "no:cacheprovider"]
        options = ["-q", *aside, "-m", "not long or mutants", "-k", only]
        failed = pytest.main([*options, *WHOLE])
        whole.write(Path(folder), keep=bool(words))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
