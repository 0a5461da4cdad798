"""`make accept`: rewrite the machine's verdicts of every story; the diff is the review."""

from tests.stories import STORIES, audits_of, dump, verdicts_of


def main() -> None:
    for story in STORIES:
        (story / "verdicts.yml").write_text(dump(verdicts_of(audits_of(story))), encoding="utf-8")


if __name__ == "__main__":
    main()
