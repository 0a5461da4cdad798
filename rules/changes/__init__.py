"""One module per kind of change: how it is written, quoted, undone; when it takes effect; its legal range."""
