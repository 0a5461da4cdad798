"""Who is told what: recipients, mail, the outbox, webhooks."""
