"""Exports that name no system: which of an upload they are, and whose they are as somebody says.

A listing that came with the one server of its product joins it. Another one is judged by itself, as a system that is
called after the file, and stays so until somebody says which system it is of.
"""

from collections import defaultdict
from collections.abc import Mapping

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import HttpRequest

from advisor.accounts.models import User
from advisor.audits.models import Capture
from advisor.audits.services.deduplicate import captures_in
from advisor.systems.models import System
from advisor.systems.services.systems import take_for
from advisor.uploads.models import Upload
from advisor.uploads.services.results import is_nameless
from advisor.uploads.services.uploads import clean_text, read_again

LONGEST = 120


def unnamed_files(upload: Upload) -> list[str]:
    """The files of an upload that name no system, that nobody chose one for, and that no named export came with.

    Nobody is asked for the systems of examples.
    """
    if upload.system_name or upload.origin == "example":
        return []
    named: dict[str, bool] = {}
    for one in upload.inputs.filter(facts__gt=0).only("file", "names_system", "problems"):
        named[one.file] = named.get(one.file, False) or not is_nameless(one)
    loose = {file for file, says in named.items() if not says and not upload.system_names.get(file)}
    if not loose:
        return []
    alone = {
        file
        for files in captures_in(upload).values_list("files", flat=True)
        if loose.issuperset(files)
        for file in files
    }
    return [file for file in named if file in alone]


def some_unnamed(system: str) -> Exists:
    """Whether `unnamed_upload` may find one, for a query of systems; `system` is where that has the system's number."""
    return Exists(Upload.objects.filter(unnamed__gt=0, captures__system=OuterRef(system)))


def unnamed_upload(system: System) -> Upload | None:
    """The newest upload that a system is called after a file of; `None` where what it holds has a name."""
    for upload in Upload.objects.filter(unnamed__gt=0, captures__system=system).distinct().order_by("-pk")[:3]:
        loose = set(unnamed_files(upload))
        if any(loose.issuperset(one.files) for one in upload.captures.filter(system=system).only("files")):
            return upload
    return None


def name_exports(
    upload: Upload,
    by: User,
    system_name: str = "",
    names: Mapping[str, str] | None = None,
    *,
    request: HttpRequest | None = None,
) -> None:
    """Say which system the exports that name none are of, for all of them or by file, and have the upload read again.

    A system that was made of nothing else than these files gives all it has to the one that they are of, so that what
    people decided about its findings stays with them. Raises `Refused`, of this module's services.
    """
    with transaction.atomic():
        for system, name in _whose(upload, system_name, names or {}):
            take_for(system, name, by, request=request)
        read_again(upload, by, system_name, names)


def _whose(upload: Upload, system_name: str, names: Mapping[str, str]) -> list[tuple[System, str]]:
    """The systems that hold nothing but files of this upload that name none, each with the name it is to have."""
    loose = unnamed_files(upload)
    for_all = clean_text(system_name, LONGEST)
    given = {file: clean_text(names.get(file, ""), LONGEST) or for_all for file in loose}
    wanted: defaultdict[int, set[str]] = defaultdict(set)
    for system, files in upload.captures.values_list("system", "files"):
        wanted[system].update(given.get(file, "") for file in files)
    others = set(Capture.objects.filter(system__in=wanted).exclude(upload=upload).values_list("system", flat=True))
    others |= set(System.objects.filter(captures__also_in__isnull=False, pk__in=wanted).values_list("pk", flat=True))
    sure = {pk: next(iter(said)) for pk, said in wanted.items() if len(said) == 1 and "" not in said}
    return [(one, sure[one.pk]) for one in System.objects.filter(pk__in=sure.keys() - others).order_by("pk")]
