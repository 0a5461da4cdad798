"""The plan of an audit as files to apply and to undo: all steps in order, in the language of the system.

DCL goes by the name `.com.txt` and a shell's commands by `.sh.txt`: mail servers and Outlook throw programs away. Run
as a whole such a file ends before its first step, because between steps somebody has to look and decide.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from advisor.audits.report.render import EFFECTS
from advisor.notifications.mail.message import File, fold
from rules.changes.quoting import comment

PLAIN = re.compile(r"[^\w .,:;/()=%+#*-]")
"""What may not stand in a comment here: in DCL an apostrophe begins a substitution wherever it stands."""
LANGUAGES = {"ase": ("-- ", ".sql"), "openvms": ("$! ", ".com.txt"), "unix": ("# ", ".sh.txt")}
"""For each kind of change its mark of a comment and the ending of its file."""
ENDS_HERE = {
    "openvms": ("$! Run as a whole with @, this file ends here: paste step by step.", "$ EXIT"),
    "unix": ("# Run as a whole with sh, this file ends here: paste step by step.", "exit 1"),
}


def files(name: str, told: Sequence[str], plan: Mapping[str, Any], node: str | None = None) -> list[File]:
    """Make the files of a plan: one to apply and one to undo for each language. No plan, no files.

    `name` is what the files' names begin with, fit for any file system; `told` are lines for the head of each. `node`:
    for this node of a cluster alone; what is run on another one stands in its place as a comment.
    """
    made = []
    conflicts = [f"Decide first: {conflict['why']}" for conflict in plan.get("conflicts", ())]
    for product, (mark, ending) in LANGUAGES.items():
        steps = [step for step in plan.get("steps", ()) if _of(step) == product]
        if not steps or (node is not None and not any(step.get("node") == node for step in steps)):
            continue
        for which, order, head in (
            (
                "apply",
                steps,
                "Read each step before it is run. The steps are in order; each says when it takes effect.",
            ),
            ("undo", steps[::-1], "Undo only what was applied. The last step of the other file comes first here."),
        ):
            lines = [f"Lockwright: {which}", *told, head, *(conflicts if which == "apply" else ())]
            text = _remarks(mark, lines) + list(ENDS_HERE.get(product, ()))
            for number, step in enumerate(order, 1):
                effect = EFFECTS[step["takes_effect"]]
                effect = f"for node {step['node']}, {effect}" if step.get("node") else effect
                own = number if which == "apply" else len(order) + 1 - number
                if node is not None and step.get("node") != node:
                    other = f"===== Step {own} of {len(order)}: on node {step.get('node')}, by its own file ====="
                    text += ["", *_remarks(mark, [other])]
                    continue
                text += ["", *_remarks(mark, [f"===== Step {own} of {len(order)}, {effect} ====="]), step[which]]
            made.append(File(f"{name}-{which}{ending}", "\n".join(text) + "\n"))
    return made


def _of(step: Mapping[str, Any]) -> str:
    """The language of a step, by its first change: one step never mixes T-SQL and DCL."""
    product = str(step["change_keys"][0]).split(".", 1)[0]
    return "openvms" if product == "rdb" else product


def _remarks(mark: str, lines: Sequence[str]) -> list[str]:
    """Make comments, in lines of 72 columns. None ends in a hyphen: DCL would go on with the next line."""
    made = []
    for line in lines:
        for part in fold(PLAIN.sub("?", comment(line, 1000)), len(mark)).split("\n"):
            made.append(mark + part.strip().rstrip("-"))
    return made
