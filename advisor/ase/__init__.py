"""What the pages of SAP ASE show of one stored capture."""
