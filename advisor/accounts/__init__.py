"""Who one is here: users, roles, teams, login, tokens."""
