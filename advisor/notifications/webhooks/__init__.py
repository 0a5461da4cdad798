"""Webhooks: their settings, deliveries, signatures, and the HTTP client."""
