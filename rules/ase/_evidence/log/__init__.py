"""The transaction log of SAP ASE: user log caches, their flushes, writes of log pages, and where the log is stored."""
