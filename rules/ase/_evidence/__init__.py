"""What several rules of SAP ASE read: caches, objects, spinlocks, waits, the server."""
