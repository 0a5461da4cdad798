"""What `reorg rebuild` of SAP ASE asks for, in the words of every rule that proposes it.

Vendor: it needs the option `select into/bulkcopy/pllsort` of the database (dc01265.0330 jpl1342558063334), and no
transaction log is dumped after a whole table was rebuilt until the database is (dc36272.1600 san1393051052682).
`exp_row_size` is only for data-only-locked tables with columns of variable length, between their shortest and longest
row (dc32300.1600 san1390612278017); from 16.0 on rows of fixed length can have it, too, up to the page
(mas1385501214561).
"""

from rules.changes.quoting import bare_table

NEEDS = "outage; select into/bulkcopy/pllsort, then dump the database"


def fewer_rows(table: str) -> str:
    """The commands that put fewer rows on each page of a data-only-locked table, with what they ask for."""
    name = bare_table(table)
    return (
        f'`sp_chgattribute "{name}", "exp_row_size", <bytes>` (before 16.0 only with columns of variable length, up to '
        f"its longest row), then `reorg rebuild {name}` ({NEEDS})"
    )
