"""`python -m tests.behaviour save DIR`, `… compare DIR`: what the commands answer before and after a move of code.

Over every story, export, case and comparison: the JSON of `audit`, `read`, `compare` and `rules`, with exit status and
what went to standard error. Files are named from the project's root, and no time of the machine is in any of these.
Prose (`title`, `says`, `why`, …) is compared only with `--words`.
"""

import argparse
import difflib
import io
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from manage import WITHOUT_THE_SERVICE

ROOT = Path(__file__).parent.parent
SHARED = Path("..") / "shared"
WORDS = {"title", "says", "why", "do", "headline", "doubt", "doubts"}
"""Keys whose value is prose: a step may improve it."""
OURS = {"story.yml", "verdicts.yml", "expected.yml", "README.md"}


def asked() -> Iterator[tuple[str, list[str]]]:
    """Every call of a command, with a name for its answer."""
    yield "rules", ["rules", "--format", "json"]
    for folder in (Path("tests/exports"), SHARED / "exports", SHARED / "cases"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name not in OURS and path.suffix not in {".yml", ".py", ".md"}:
                yield f"read {path}", ["read", str(path), "--format", "json"]
                yield f"audit {path}", ["audit", str(path), "--format", "json"]
    whole = [path.parent for path in Path("advisor/examples/audits").glob("*/story.yml")]
    whole += [path for path in (SHARED / "cases").iterdir() if path.is_dir()] if (SHARED / "cases").is_dir() else []
    for folder in sorted(whole):
        files = [
            str(path) for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in {".yml", ".md"}
        ]
        yield f"audit {folder}", ["audit", *files, "--format", "json"]
    compared = [Path("tests/comparisons/stories"), Path("advisor/examples/comparisons")]
    for story in sorted(path for room in compared for path in room.glob("*/story.yml")):
        before, after = (str(story.parent / side) for side in ("before", "after"))
        yield f"compare {story.parent}", ["compare", "--before", before, "--after", after, "--format", "json"]


def answer(call: tuple[str, list[str]]) -> tuple[str, str]:
    """What a command prints, as it does for a script."""
    from importlib import import_module

    name, words = call
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    status: Any = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            command = import_module(f"{WITHOUT_THE_SERVICE[words[0]]}.management.commands.{words[0]}").Command()
            command.run_from_argv(["manage.py", *words])
        except SystemExit as end:
            status = end.code
    out.flush()
    said = out.buffer.getvalue().decode()
    try:
        told = json.loads(said)
    except ValueError:
        told = said
    return name, json.dumps({"status": status, "error": err.getvalue(), "answer": told}, indent=1, ensure_ascii=False)


def without_words(value: Any) -> Any:
    """The same without prose."""
    if isinstance(value, dict):
        return {key: without_words(one) for key, one in value.items() if key not in WORDS}
    return [without_words(one) for one in value] if isinstance(value, list) else value


def main() -> None:
    """Save what is answered today, or hold it against what was saved; the exit status is 1 where it differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["save", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--words", action="store_true", help="hold the wording against it, too")
    given = parser.parse_args()
    folder = given.folder.absolute()
    os.chdir(ROOT)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.config.settings")
    folder.mkdir(parents=True, exist_ok=True)
    differ = count = 0
    with ProcessPoolExecutor(2) as pool:
        for name, text in pool.map(answer, asked(), chunksize=8):
            count += 1
            path = folder / (name.replace("/", "!").replace("..", "") + ".json")
            if given.what == "save":
                path.write_text(text)
                continue
            was = path.read_text() if path.exists() else ""
            old, new = (text if given.words else _plain(text) for text in (was, text))
            if old != new:
                differ += 1
                lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "before", "after", lineterm="", n=2)
                sys.stdout.write(f"== {name}\n" + "".join(f"{line}\n" for line in list(lines)[:40]))
    sys.stdout.write(f"{count} answers, {differ} differ\n" if given.what == "compare" else f"{count} answers saved\n")
    sys.exit(bool(differ))


def _plain(text: str) -> str:
    return json.dumps(without_words(json.loads(text)), indent=1, ensure_ascii=False) if text else ""


if __name__ == "__main__":
    main()
