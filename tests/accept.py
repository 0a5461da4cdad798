"""`make accept`: rewrite the machine's verdicts of every story and what came out whole; the diff is the review."""

import sys

import pytest

from tests import whole
from tests.stories import STORIES, audits_of, dump, verdicts_of

WHOLE = [f"tests/test_{name}.py" for name in ("findings", "exports", "audits", "comparisons", "comparison_stories")]


def main() -> int:
    for story in STORIES:
        (story / "verdicts.yml").write_text(dump(verdicts_of(audits_of(story))), encoding="utf-8")
    whole.accepted = {}
    failed = pytest.main(["-q", "-n0", "-p", "no:cacheprovider", *WHOLE])
    whole.write()
    return failed


if __name__ == "__main__":
    sys.exit(main())
