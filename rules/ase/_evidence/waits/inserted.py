"""Where most rows of the interval were inserted, where that is a table of a temporary database."""

from collectors.facts import Facts, known
from collectors.facts.ase import MonOpenObjectActivity
from rules.ase._evidence.objects.seen import activity


def most_temporary(facts: Facts, least_percent: float) -> tuple[MonOpenObjectActivity, float, float] | None:
    """The table of a temporary database that most rows were inserted into in the interval, with count and share."""
    rows = [
        (row, row.rows_inserted)
        for row in activity(facts)
        if row.of_interval and row.index_id in (0, 1) and known(row.rows_inserted) and row.rows_inserted > 0
    ]
    if not rows:
        return None
    row, count = max(rows, key=lambda one: one[1])
    share = 100.0 * count / sum(inserted for _, inserted in rows)
    name = row.object_name or ""
    temporary = name.startswith("#") or "tempdb" in (row.database or "").lower()
    return (row, count, share) if temporary and name and share >= least_percent else None
