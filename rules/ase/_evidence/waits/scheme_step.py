"""What the lock scheme of a table leaves to be done about waits for its locks."""

from collectors.facts import Facts
from rules.ase._evidence.objects.indexes import indexes_of, without_indexes
from rules.ase._evidence.waits.tables import Waiting
from rules.changes.quoting import bare_table

BY_SCHEME = {
    "allpages": (
        "It locks whole pages and index pages: `alter table {0} lock datapages` ends the latter, but copies the table "
        "and asks for a full dump."
    ),
    "datapages": (
        "It locks whole pages: `alter table {0} lock datarows` changes the catalogue alone, but takes more locks "
        "(number of locks)."
    ),
    "datarows": "It locks rows already, so no lock scheme helps further.",
}
HEAP = (
    "It locks whole pages, and without an index all that is inserted goes to its last one: `alter table {0} lock "
    "datarows` ends that, but copies the table and asks for a full dump."
)
"""Of an allpages table that is listed without an index."""


def scheme_step(facts: Facts, table: Waiting) -> str:
    """What its lock scheme leaves to be done, with its name where that needs no quotes."""
    name = table.row.object_name or ""
    heap = table.scheme == "allpages" and without_indexes(facts, name) and not indexes_of(facts, name)
    return (HEAP if heap else BY_SCHEME.get(table.scheme or "", "")).format(bare_table(name))
