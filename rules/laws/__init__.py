"""The field's laws: arithmetic that holds on every system."""
