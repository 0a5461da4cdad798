"""What the pages of OpenVMS show of one stored capture."""
