"""Numbers rounded for a sentence."""

from math import floor, log10


def plain(number: float, digits: int) -> str:
    """A number with so many significant digits, in scientific notation only from 10¹⁵ on: `130`, not `1.3e+02`."""
    said = float(f"{number:.{digits}g}")
    if 0 < abs(said) < 1e-4:
        return f"{said:.{digits - 1 - floor(log10(abs(said)))}f}"
    return f"{said:,.15g}"
