"""Which Lockwright this is, and which rules it judges by."""

import functools
import hashlib

from django.conf import settings

VERSION = "0.9.0"
REPORT_SOURCES = ("advisor/**/*.py", "rules/**/*.py", "templates/audits/report/*", "requirements.txt")
"""What decides how a report looks, of the folder of the product; the last one for the libraries that print it."""


@functools.cache
def rules_version() -> str:
    """The version and a digest of every rule's source: audits made by other rules can be told apart and renewed."""
    return f"{VERSION}+{_digest('rules/**/*.py')[:8]}"


@functools.cache
def reports_version() -> str:
    """The version and a digest of all that makes a report: one that was kept by another program is not handed over."""
    return f"{VERSION}+{_digest(*REPORT_SOURCES)}"


def _digest(*patterns: str) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for pattern in patterns for path in settings.BASE_DIR.glob(pattern)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
