"""In front of the pages: what the web server takes, and how it keeps it."""
