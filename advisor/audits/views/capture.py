"""What the views of one stored capture share: the audit, its head, tables that sort by links, and CSV files."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404

from advisor.audits.models import Audit
from advisor.audits.services.captures_around import captures_around, taken
from advisor.audits.services.tabs import tabs_of
from advisor.core.access import audits_of
from advisor.core.csv_files import CSV, csv_lines
from advisor.core.views import Asked
from advisor.uploads.services.uploads import file_part


def audit_of(request: Asked, pk: int, product: str | None) -> Audit:
    """The audit, if it is this person's to see, of this product (`None`: any), and its facts are stored; else 404."""
    audits = audits_of(request.user).select_related("system__team", "capture__packed")
    audit = get_object_or_404(audits.defer("capture__figures", "findings_digest"), pk=pk)
    if product not in (None, audit.system.product) or not hasattr(audit.capture, "packed"):
        raise Http404
    return audit


def file_name(audit: Audit) -> str:
    """A name that any file system and any header takes: letters, digits and hyphens."""
    return f"lockwright-{file_part(audit.system.name)}-{audit.capture.taken:%Y%m%d-%H%M}"


def head(audit: Audit, problems: Sequence[str], here: str) -> dict[str, Any]:
    """What the top of each view needs; `here` is the name of its address."""
    return {
        "audit": audit,
        "capture": audit.capture,
        "system": audit.system,
        "around": captures_around(audit.capture),
        "taken": taken(audit.capture),
        "file_name": file_name(audit),
        "here_name": here,
        "tabs": tabs_of(audit.capture, audit.system.product, here),
        "problems": problems,
        "current": audit.capture.audit_id == audit.pk,
    }


@dataclass(frozen=True)
class Column:
    """A column of a table: its name in the address, its heading, and what rows are sorted by (`None`: comes last)."""

    key: str
    heading: str
    value: Callable[[Any], float | str | None]
    figure: bool = True


def sorted_by(rows: Iterable[Any], columns: Sequence[Column], wanted: str) -> tuple[list[Any], str]:
    """The rows as `?sort=` asks: `spins`, or `-spins` upside down; and that, or nothing where no column is called so.

    Figures come largest first, texts from A; what has no figure comes last either way.
    """
    column = next((one for one in columns if one.key == wanted.removeprefix("-")), None)
    listed = list(rows)
    if column is None:
        return listed, ""
    known = [row for row in listed if column.value(row) is not None]
    known.sort(key=lambda row: column.value(row) or ("" if not column.figure else 0.0))
    if column.figure is not wanted.startswith("-"):
        known.reverse()
    return known + [row for row in listed if column.value(row) is None], wanted


def csv_file(audit: Audit, what: str, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A CSV file: texts made safe for a spreadsheet, figures as figures, nothing for what is not known."""
    rounded = ((round(cell, 4) if isinstance(cell, float) else cell for cell in row) for row in rows)
    answer = HttpResponse("".join(csv_lines(heading, rounded)), content_type=CSV)
    answer["Content-Disposition"] = f'attachment; filename="{file_name(audit)}-{what}.csv"'
    return answer
