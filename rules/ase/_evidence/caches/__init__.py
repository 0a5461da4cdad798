"""Data caches of SAP ASE: what is in them, what they show, and the binding plan."""
