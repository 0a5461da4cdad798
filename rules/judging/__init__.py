"""What several rules of one product judge alike: when a figure may be acted on, and what to read it with."""
