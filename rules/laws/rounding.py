"""Numbers rounded for a sentence."""


def plain(number: float, digits: int) -> str:
    """A number with so many significant digits, never in scientific notation below 10¹⁵: `130`, not `1.3e+02`."""
    return f"{float(f'{number:.{digits}g}'):,.15g}"
