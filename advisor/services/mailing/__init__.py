"""Mail: who is told what, the letters, the outbox and its line to the mail server."""
