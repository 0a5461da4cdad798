"""What the pages of SAP ASE show of one stored capture: its caches, its spinlocks, and what another setting would do.

Everything is worked out of the stored facts by the laws and the judging that the rules use; nothing here has a law,
a threshold or a plan of its own.
"""
