"""Spinlocks of SAP ASE: their figures, the gates they are held against, what is said of them."""
