"""Mail: one module a message, the kit they share."""
