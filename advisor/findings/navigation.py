"""What the navigation of every page shows of the findings."""

from collections.abc import Callable

from django.http import HttpRequest

from advisor.findings.services.listing import open_count


def findings(request: HttpRequest) -> dict[str, Callable[[], int]]:
    """Offer the number of open findings to every template; it is counted where a template asks for it."""
    return {"open_findings": lambda: open_count(request.user)}  # type: ignore[arg-type]  # of those who are logged in
