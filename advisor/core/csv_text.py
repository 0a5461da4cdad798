"""Text in a CSV file that a spreadsheet will open."""

STEERS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters that make a spreadsheet compute a cell; the full-width signs do so in East Asian ones."""


def safe_cell(text: str) -> str:
    """Make a text safe as a cell: one that a spreadsheet would take for a formula gets an apostrophe before it.

    For text alone: write numbers as numbers, or `-5` becomes a text. Quoting is left to the `csv` module.
    """
    return f"'{text}" if text.startswith(STEERS) else text
