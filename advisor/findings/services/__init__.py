"""Following findings over captures, and what people decide about them."""
