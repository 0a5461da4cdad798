"""Mail: who is notified of what, the messages, the outbox and its connection to the mail server."""
