"""Paper for sp_sysmon: the columns of its rows, and where each figure ends (knowledge/ase-formats.md, 1.3)."""

from collections.abc import Iterator

WIDTH = 80
PER_SECOND, PER_XACT, COUNT, SHARE = 41, 55, 67, 77
"""In which column (1-based) each figure ends."""
RULE = "=" * 79
HEADING = "per sec      per xact       count  % of total"
DASHES = "  -------------------------  ------------  ------------  ----------  ----------"
SHORT_DASHES = "  -------------------------  ------------  ------------  ----------"
NOTHING = "n/a"


class Paper:
    """A report in the making: the lines so far, for a sample of so many seconds with so many commits."""

    def __init__(self, seconds: float, commits: float) -> None:
        """Take the length of the sample, in the server's seconds, and the commits in it."""
        self.seconds, self.commits = seconds, max(1.0, commits)
        self._lines: list[str] = []

    def lines(self) -> Iterator[str]:
        """Give the lines as PRINT sends them: filled up with blanks, and one blank for an empty line."""
        return (f"{line:<{WIDTH}}" if line else " " for line in self._lines)

    def say(self, *lines: str) -> None:
        """Write lines as they are."""
        self._lines += lines

    def section(self, title: str) -> None:
        """Begin a section."""
        self.say(RULE, "", title, "-" * len(title), "")

    def table(self, title: str) -> None:
        """Begin a table within a section."""
        self.say(f"{title:<29}{HEADING:>50}", DASHES)

    def counted(self, label: str, per_second: float, of: float | None = None) -> None:
        """Write a row of a counter; `of`: the rate that it is a share of, `None` where it is of nothing."""
        share = NOTHING if not of else f"{100 * per_second / of:.1f} %"
        self._figures(label, per_second, share)

    def total(self, label: str, per_second: float, of: float | None = None) -> None:
        """Write a total under its rule: without a share, where there is none."""
        self.say(SHORT_DASHES if of is None else DASHES)
        self._figures(label, per_second, "" if of is None else f"{100 * per_second / of:.1f} %")

    def state(self, label: str, count: float, *, decimals: int = 0) -> None:
        """Write a row with a count alone: a level, no rate."""
        self._row(label, NOTHING, NOTHING, f"{count:.{decimals}f}", NOTHING)

    def share(self, label: str, percent: float) -> None:
        """Write a row with a percentage alone."""
        self._row(label, NOTHING, NOTHING, NOTHING, f"{percent:.1f} %")

    def _figures(self, label: str, per_second: float, share: str) -> None:
        count = per_second * self.seconds
        self._row(label, f"{per_second:.1f}", f"{count / self.commits:.1f}", f"{count:.0f}", share)

    def _row(self, label: str, per_second: str, per_xact: str, count: str, share: str) -> None:
        taken = len(label.expandtabs())  # one row begins with a tab, and is laid out as if that were eight blanks
        line = f"{label}{per_second:>{PER_SECOND - taken}}{per_xact:>{PER_XACT - PER_SECOND}}"
        line += f"{count:>{COUNT - PER_XACT}}"
        percent = share.endswith("%")
        width = SHARE - COUNT + (2 if percent else 0)
        self.say(line + f"{share:>{width}}" if share else line)
