"""Pages of mail: who gets what, the outbox, and what a signed link opens without a login."""
