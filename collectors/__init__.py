"""What Lockwright can read: text in, facts out. Knows neither the rules nor the service."""
