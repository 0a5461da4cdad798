"""OpenVMS: one rule per file, the path is the id."""
