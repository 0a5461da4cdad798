"""Every table and figure of the five source documents, held against what this project makes of it."""
