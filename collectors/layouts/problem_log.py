"""Problems that a streaming reader reports, with a bound: those beyond it are counted, as `registry.Report` does."""

from collectors.registry import MOST_PROBLEMS


class ProblemLog:
    """The problems of one report."""

    def __init__(self) -> None:
        """Start with none."""
        self.kept: list[str] = []
        self.more = 0

    def problem(self, line: int, what: str) -> None:
        """Tell what is wrong with this line, and the remedy."""
        if len(self.kept) < MOST_PROBLEMS - 1:
            self.kept.append(f"line {line}: {what}")
        else:
            self.more += 1

    @property
    def problems(self) -> list[str]:
        """All that were kept, and how many there were besides."""
        if not self.more:
            return self.kept
        what = "problem" if self.more == 1 else "problems"
        return [*self.kept, f"{self.more:,} more {what} in these lines: mend those above first"]
