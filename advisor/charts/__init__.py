"""Charts as SVG text, made on the server: the same picture for the page, the HTML mail and the PDF (see `svg`)."""

from advisor.charts.svg import bullet, history, law, several, sparkline

__all__ = ["bullet", "history", "law", "several", "sparkline"]
