"""One verb per function; views, API, commands and tasks call these."""
