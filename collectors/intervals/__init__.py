"""Two snapshots of monitoring tables → what was counted between them, and whether that can be believed."""
