"""Load series as pages show them: fitted once, side by side with other machines, and made of captures over time."""
