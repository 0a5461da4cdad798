"""A script's door: the JSON API with its tokens, the figures for Prometheus, the sign of life."""
