"""The pages of administrators: people, mail, retention, limits, journal, tokens."""
