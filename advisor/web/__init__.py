"""A visitor's door: one module a page; views read through `services`, and write through them."""
