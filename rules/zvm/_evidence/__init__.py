"""A z/VM system: its spin locks, its releases, its measured runs."""
