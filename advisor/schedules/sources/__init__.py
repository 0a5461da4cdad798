"""Servers that are asked live: how each is reached, its sealed password, and whether asking it works."""
