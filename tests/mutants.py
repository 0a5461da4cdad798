"""Change one thing in a rule or a reader, run the tests that go through it, and see whether one notices.

`python -m tests.mutants --count 200 --seed 7` does so at 200 places and prints every change that no test noticed: file
and line, the line before and after. A survivor is a hole in the tests, or the change makes no difference at all (`<`
for `<=` where both give the same): a person decides which, and closes the hole with a case. `--only 12,40 tests/rules`
tries two of them again with fewer tests.

All happens in a copy of the checkout. Every changed expression stands there beside the original, as
`(changed if is_on(12) else original)`, so that one process can collect the tests once and try each change in a fork.
The tests run once with nothing changed, which records what each goes through. What runs at import (limits, tables of
names) needs a process of its own, and the tests that enter a function of its module or of one that imports it.
First come the tests of `make test`; only what none of them noticed is tried with those that vary every figure, too.
"""

import argparse
import ast
import importlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

TESTS = [
    *(f"tests/test_{name}.py" for name in ("exports", "findings", "audits", "cases", "comparisons", "evidence")),
    *(f"tests/test_{name}.py" for name in ("comparison_stories", "healthy_ase", "healthy_vms", "wording", "readme")),
    *(f"tests/test_{name}.py" for name in ("story_vlh", "shared_cases_ase_caches", "shared_cases_openvms")),
    *("tests/test_shared_series.py", "tests/rules", "tests/collectors", "tests/documents"),
    *(f"tests/live/test_collect{of}.py" for of in ("", "_command", "_faults", "_samples")),
]
PLACES = ("rules", "collectors")
NOT_HERE = "collectors/live/locklab"
"""Measures the machine that it runs on."""
OPTIONS = ["-s", "-q", "-p", "no:cacheprovider"]
STAGES = {"make test": "not long", "make test-all": "long and mutants"}
"""Which tests may notice, in their order: what they belong to, and how they are marked."""
SWAPS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.And: (r"\band\b", "or"),
    ast.Or: (r"\bor\b", "and"),
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
}
SPARE_SECONDS = 60
"""Of a processor, beyond three times what the tests took unchanged: what takes longer hangs, and counts as noticed."""
LONGEST_WAIT = 900
"""Seconds on the clock, for a change after which a test waits for what never comes."""
LONGEST_RUN = 36_000
"""Seconds for all of them."""
MOST_MEMORY = 6 << 30
SWITCH = '''"""Says which change is on; without one it records which test goes through which."""
import os
on, seen = int(os.environ.get("MUTANT", 0)), set()


def is_on(number):
    if on:
        return number == on
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if (number, test) not in seen and "MUTANTS_RECORD" in os.environ:
        seen.add((number, test))
        with open(f"{os.environ['MUTANTS_RECORD']}-{os.getpid()}", "a") as record:
            record.write(f"{number}\\t{test}\\n")
    return False
'''
COLLECTING = "collectors/live/ase/process.py"
PASSED_ON = '\nPASSED_ON = (*PASSED_ON, "MUTANT", "MUTANTS_RECORD", "PYTEST_CURRENT_TEST")\n'
"""The process that asks a server has a small environment: in the copy it is also told which change is on."""


class Mutant(NamedTuple):
    """An expression of a file (its bytes from `start` to `end`) and what it becomes."""

    path: str
    start: int
    end: int
    new: str

    def __str__(self) -> str:
        source = Path(self.path).read_bytes()
        changed = source[: self.start] + self.new.encode() + source[self.end :]
        old, new = (text.decode().splitlines() for text in (source, changed))
        first = next(at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two)
        return f"{self.path}:{first + 1}\n    - {old[first].strip()}\n    + {new[first].strip()}"


class Source:
    """A file and the places in it that can be changed; texts are left alone."""

    def __init__(self, path: str) -> None:
        self.path, self.bytes = path, Path(path).read_bytes()
        self.tree = ast.parse(self.bytes)
        self.starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def place(self, node: Any) -> tuple[int, int]:
        """The first byte of a node, and the one behind it."""
        first = self.starts[node.lineno - 1] + node.col_offset
        return first, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, begin: int, end: int) -> str:
        """What stands there."""
        return self.bytes[begin:end].decode()

    def swapped(self, whole: ast.expr, operator: ast.AST, left: ast.expr, right: ast.expr) -> list[Mutant]:
        """The expression with one operator exchanged."""
        (start, end), begin, until = self.place(whole), self.place(left)[1], self.place(right)[0]
        word, new = SWAPS.get(type(operator), ("(?!)", ""))
        between, times = re.subn(word, new, self.text(begin, until), count=1)
        changed = self.text(start, begin) + between + self.text(until, end)
        return [Mutant(self.path, start, end, changed)] if times else []

    def instead(self, node: ast.AST, *texts: str) -> list[Mutant]:
        """The node replaced by a text."""
        return [Mutant(self.path, *self.place(node), text) for text in texts]

    def sites(self) -> Iterator[list[Mutant]]:
        """Every place, with the changes possible there."""
        todo: list[ast.AST] = [self.tree]
        returned: dict[ast.AST, str] = {}
        while todo:
            node = todo.pop()
            if isinstance(node, ast.JoinedStr | ast.pattern):
                continue
            todo += ast.iter_child_nodes(node)
            match node:
                case ast.FunctionDef(returns=ast.expr() as kind):
                    returned.update({one: ast.unparse(kind) for one in ast.walk(node) if isinstance(one, ast.Return)})
                case ast.Compare(left=left, ops=operators, comparators=others):
                    for operator, one, two in zip(operators, [left, *others], others, strict=False):
                        yield self.swapped(node, operator, one, two)
                case ast.BoolOp(op=operator, values=values):
                    for one, two in pairwise(values):
                        yield self.swapped(node, operator, one, two)
                case ast.BinOp(left=one, op=operator, right=two) if not (_is_text(one) or _is_text(two)):
                    yield self.swapped(node, operator, one, two)
                case ast.UnaryOp(op=ast.Not(), operand=operand):
                    yield self.instead(node, self.text(*self.place(operand)))
                case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                    yield self.instead(node, *(repr(new) for new in {number + 1, number - 1, number * 2} - {number}))
                case ast.If(test=test) | ast.IfExp(test=test) if ast.unparse(test) != "TYPE_CHECKING":
                    yield self.instead(test, "True", "False")
                case ast.comprehension(ifs=tests):
                    yield from (self.instead(test, "True", "False") for test in tests)
                case ast.Return(value=ast.expr() as value) if returned.get(node) == "bool":
                    yield self.instead(value, f"not ({self.text(*self.place(value))})")
                case ast.Return(value=ast.expr() as value) if returned.get(node, "").endswith("| None"):
                    yield self.instead(value, "None") if ast.unparse(value) != "None" else []
                case ast.Break() | ast.Continue():
                    yield self.instead(node, "continue" if isinstance(node, ast.Break) else "break")

    def with_switches(self, mutants: dict[int, Mutant], entered: set[int]) -> bytes:
        """The file with the changes beside the originals, and the numbers `entered` recorded in every function."""
        behind = [node for node in self.tree.body if not _is_first(node)]
        pieces = [(self.starts[behind[0].lineno - 1 - _decorators(behind[0])], 0, "from mutants_switch import is_on\n")]
        for number, one in mutants.items():
            old, new = self.text(one.start, one.end), one.new
            is_jump = old in ("break", "continue")
            both = f"if is_on({number}): {new}\n{' ' * self._indent(one.start)}{old}"
            pieces.append((one.start, one.end, both if is_jump else f"(({new}) if is_on({number}) else ({old}))"))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and entered and node.body[0].lineno > node.lineno:
                first = next((one for one in node.body if not _is_first(one)), None)
                if first and self._indent(self.place(first)[0]) == first.col_offset:
                    begin = self.starts[first.lineno - 1 - _decorators(first)]
                    calls = "; ".join(f"is_on({number})" for number in sorted(entered))
                    pieces.append((begin, 0, f"{' ' * first.col_offset}{calls}\n"))
        source = self.bytes
        for start, end, text in sorted(pieces, reverse=True):
            source = source[:start] + text.encode() + source[max(start, end) :]
        return source

    def _indent(self, at: int) -> int:
        line = self.text(max(one for one in self.starts if one <= at), len(self.bytes))
        return len(line) - len(line.lstrip(" "))


def _is_text(node: ast.AST) -> bool:
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, ast.JoinedStr | ast.List | ast.Tuple)


def _is_first(node: ast.stmt) -> bool:
    """Whether it is a docstring or comes from the future: nothing may stand before it."""
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _decorators(node: ast.stmt) -> int:
    """How many lines above a definition its first decorator begins."""
    listed = getattr(node, "decorator_list", [])
    return node.lineno - listed[0].lineno if listed else 0


def chosen(count: int, seed: int) -> dict[int, Mutant]:
    """So many mutants by number, none inside another."""
    paths = [str(path) for place in PLACES for path in sorted(Path(place).rglob("*.py"))]
    places = [one for path in paths if not path.startswith(NOT_HERE) for one in Source(path).sites() if one]
    dice, found = random.Random(seed), list[Mutant]()
    for one in dice.sample(places, len(places)):
        new = dice.choice(sorted(one))
        if not any(new.path == old.path and new.start < old.end and old.start < new.end for old in found):
            found.append(new)
        if len(found) == count:
            break
    return dict(enumerate(found, 1))


def entered_by(mutants: dict[int, Mutant]) -> dict[str, set[int]]:
    """Where a change stands outside any function: in its file and those that import it, functions record it."""
    found: dict[str, set[int]] = {}
    for number, one in mutants.items():
        source = Source(one.path)
        functions = [node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef)]
        if not any(source.place(node.body[0])[0] <= one.start < source.place(node)[1] for node in functions):
            module = one.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            for path in (one.path, *(str(path) for place in PLACES for path in sorted(Path(place).rglob("*.py")))):
                if path == one.path or f"from {module} import" in Path(path).read_text("utf-8"):
                    found.setdefault(path, set()).add(number)
    return found


def forked(work: Callable[[], bool], seconds: float, log: Path) -> int:
    """The exit code of the work in a process of its own, which may use so many seconds of a processor: 1 for true."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
            with log.open("wb", buffering=0) as out:
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
            code = int(work())
        finally:
            sys.stdout.flush()
            os._exit(code)
    until, done, status = time.monotonic() + max(LONGEST_WAIT, seconds), 0, 0
    while not done and time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0 if done else 0.02)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status if done else os.waitpid(pid, 0)[1])


class Tests:
    """A plugin for pytest: does as it is told with the tests collected, instead of running them once each."""

    def __init__(self, told: Callable[["Tests"], object]) -> None:
        self.told = told
        self.session: pytest.Session

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do it."""
        self.session = session
        self.told(self)
        return True

    def run(self, tests: list[str]) -> bool:
        """Whether one of these tests fails; the others do not run then."""
        by_name = {item.nodeid: item for item in self.session.items}
        items = [by_name[test] for test in tests if test in by_name]
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.session.testsfailed:
                sys.stdout.write(f"noticed by {item.nodeid}\n")
                return True
        return False

    def record(self, times: Path) -> bool:
        """Run all and write down how long each takes, but not of those that fail though nothing is changed."""
        with times.open("w", encoding="utf-8") as out:
            for item, following in zip(self.session.items, [*self.session.items[1:], None], strict=True):
                began, failed = time.perf_counter(), self.session.testsfailed
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.session.testsfailed == failed:
                    out.write(f"{time.perf_counter() - began:.4f}\t{item.nodeid}\n")
        return bool(self.session.testsfailed)


def with_tests(paths: list[str], marked: str, told: Callable[[Tests], object]) -> bool:
    """Collect the tests and do something with them; whether pytest was not content."""
    return bool(pytest.main([*OPTIONS, "-m", marked, *paths], plugins=[Tests(told)]))


class Trial:
    """All changes, and what became of each: the exit codes by number, 0 where no test noticed."""

    def __init__(self, mutants: dict[int, Mutant], tests: list[str], marked: str, work: Path) -> None:
        self.mutants, self.work = mutants, work
        self.with_tests = partial(with_tests, marked=marked)
        self.tests = tests
        work.mkdir(parents=True, exist_ok=True)
        self.through: dict[int, set[str]] = {number: set() for number in mutants}
        self.seconds: dict[str, float] = {}

    def all(self) -> None:
        """Try those inside functions in forks of one process, then the others, each in a process of its own."""
        os.environ["MUTANTS_RECORD"] = str(self.work / "record")  # also of what runs while the tests are collected
        forked(partial(self.with_tests, self.tests, told=self.warm), LONGEST_RUN, self.work / "warm.log")
        del os.environ["MUTANTS_RECORD"]
        self.read_record()
        for number in sorted(set(self.mutants) - set(self.codes())):
            os.environ["MUTANT"] = str(number)
            tests = self.order(number)
            files = sorted({test.partition("::")[0] for test in tests})
            self.attempt(number, partial(self.with_tests, files, told=partial(Tests.run, tests=tests)))

    def warm(self, tests: Tests) -> None:
        """Record, then try what does not run at import."""
        forked(partial(tests.record, self.work / "times"), LONGEST_RUN, self.work / "record.log")
        del os.environ["MUTANTS_RECORD"]
        self.read_record()
        todo = [number for number, through in self.through.items() if "" not in through]
        jobs = os.cpu_count() or 1
        started = [self.started(tests, todo[share::jobs]) for share in range(jobs)]
        for pid in started:
            os.waitpid(pid, 0)

    def started(self, tests: Tests, numbers: list[int]) -> int:
        """A process that tries these one after the other."""
        if pid := os.fork():
            return pid
        with suppress(BaseException):
            switch = vars(importlib.import_module("mutants_switch"))
            for number in numbers:
                switch["on"], os.environ["MUTANT"] = number, str(number)
                self.attempt(number, partial(tests.run, self.order(number)))
        os._exit(0)

    def read_record(self) -> None:
        """Take what the run with nothing changed wrote down."""
        for line in (self.work / "times").read_text("utf-8").splitlines():
            took, _, test = line.partition("\t")
            self.seconds[test] = float(took)
        for record in self.work.glob("record-*"):  # one of each process
            for line in record.read_text("utf-8").splitlines():
                number, _, test = line.partition("\t")
                if int(number) in self.through:  # of the stage before there may be others
                    self.through[int(number)].add(test)

    def order(self, number: int) -> list[str]:
        """The tests that go through a change, quickest first; all, where only the import does and keeps the result."""
        through = self.through[number]
        tests = set(self.seconds) if through == {""} else through & set(self.seconds)
        return sorted(tests, key=lambda test: (self.seconds[test], test))

    def attempt(self, number: int, work: Callable[[], bool]) -> None:
        """Try one, and write down what became of it."""
        shutil.rmtree(".hypothesis", ignore_errors=True)  # nothing is learned from one change for the next
        tests, began = self.order(number), time.monotonic()
        seconds = SPARE_SECONDS + 3 * sum(self.seconds[test] for test in tests)
        code = forked(work, seconds, self.work / f"{number}.log") if tests else 0
        with (self.work / "codes").open("a") as out:
            out.write(f"{number} {code} {len(tests)} {time.monotonic() - began:.1f}\n")

    def codes(self) -> dict[int, int]:
        """The exit code of each that was tried."""
        path = self.work / "codes"
        lines = path.read_text().splitlines() if path.exists() else []
        return {int(number): int(code) for number, code, *_ in map(str.split, lines)}


def copied(work: Path) -> Path:
    """A copy of the checkout, and beside it what stands beside the checkout."""
    tree = work / "tree"
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if Path(name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, tree / name)
    if Path("../shared").is_dir():
        (work / "shared").symlink_to(Path("../shared").resolve())
    return tree


def main() -> int:
    """Print the survivors; the exit status is that of a test run: 0 where all is noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "tests", nargs="*", default=TESTS, help="the tests that may notice (default: those of rules and readers)"
    )
    parser.add_argument("--count", type=int, default=200, help="changes to try (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same changes (default 1)")
    parser.add_argument("--only", default="", metavar="N,N", help="of these changes only those with these numbers")
    parser.add_argument(
        "--work", type=Path, default=None, help="where the copy and the logs are kept (default: nowhere)"
    )
    given = parser.parse_args()
    all_of_them = chosen(given.count, given.seed)
    only = {int(number) for number in given.only.split(",") if number} or set(all_of_them)
    mutants = {number: one for number, one in all_of_them.items() if number in only}
    shown = {number: f"{number:4} {one}" for number, one in mutants.items()}
    began, work = time.monotonic(), given.work or Path(tempfile.mkdtemp(prefix="lockwright-mutants-"))
    tree = copied(work)
    entered = entered_by(mutants)
    for path in {one.path for one in mutants.values()} | set(entered):
        own = {number: one for number, one in mutants.items() if one.path == path}
        (tree / path).write_bytes(Source(path).with_switches(own, entered.get(path, set())))
    (tree / "mutants_switch.py").write_text(SWITCH, "utf-8")
    with (tree / COLLECTING).open("a", encoding="utf-8") as out:
        out.write(PASSED_ON)
    os.chdir(tree)
    os.environ["DJANGO_SETTINGS_MODULE"] = "advisor.config.settings"
    sys.path.insert(0, str(tree))
    del sys.modules["tests"]  # of the checkout; the next one that imports it shall find the copy
    survivors = mutants
    for stage, marked in STAGES.items():
        if not survivors:
            break
        trial = Trial(survivors, given.tests, marked, work / marked)
        trial.all()
        codes = trial.codes()
        survivors = {number: one for number, one in survivors.items() if codes[number] == 0}
        noticed, took = len(mutants) - len(survivors), time.monotonic() - began
        sys.stdout.write(f"{noticed} of {len(mutants)} noticed by {stage} (seed {given.seed}, {took:.0f} s)\n")
    sys.stdout.write("".join(f"{shown[number]}\n" for number in survivors))
    if not given.work:
        shutil.rmtree(work)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
