"""Mail: one module for each message, and what they share."""
