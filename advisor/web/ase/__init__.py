"""Three views of one stored capture of an SAP ASE: cache map, spinlocks, what-if."""
