"""Tables, indexes and descriptors of SAP ASE: which are hot, which wait, which are used up."""
