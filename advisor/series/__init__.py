"""Load series: each with its law, side by side, over time; the lock laboratory."""
