"""The HTML report → PDF, by WeasyPrint, which loads nothing: no file, no address."""

from typing import Any


class NoPdf(Exception):
    """PDFs cannot be made on this machine; the message says what to install."""


def pdf(html: str) -> bytes:
    """Print a report. Raises `NoPdf` where Pango is not installed."""
    page, fetcher = _printer()
    nothing = fetcher(allowed_protocols=(), fail_on_errors=False)
    made: bytes | None = page(string=html, url_fetcher=nothing).write_pdf()
    return made or b""


def check() -> None:
    """See that PDFs can be made here. Raises `NoPdf`."""
    _printer()


def _printer() -> tuple[Any, Any]:
    try:
        from weasyprint import HTML
        from weasyprint.urls import URLFetcher
    except OSError as error:  # the wheel is there, the libraries it opens are not
        raise NoPdf("PDF needs Pango: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0") from error
    return HTML, URLFetcher
