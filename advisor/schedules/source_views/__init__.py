"""Pages of data sources: servers that are asked live."""
