"""What is audited by itself: schedules, their runs, drop folders, servers that are asked live."""
