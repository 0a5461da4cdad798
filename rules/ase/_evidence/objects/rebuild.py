"""What `reorg rebuild` of SAP ASE asks for, in the words of every rule that proposes it.

Vendor: it needs the option `select into/bulkcopy/pllsort` of the database (dc01265.0330 jpl1342558063334), and no
transaction log is dumped after a whole table was rebuilt until the database is (dc36272.1600 san1393051052682).
"""

NEEDS = "outage; select into/bulkcopy/pllsort, then dump the database"
