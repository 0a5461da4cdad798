"""The views of load series: those of a capture, and what the captures of a system make over time."""
