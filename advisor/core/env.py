"""Values from the environment; a bad one stops the start and says what would be good."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def text(name: str, default: str = "") -> str:
    """Read a text; surrounding blanks are dropped."""
    return os.environ.get(name, default).strip()


def secret(name: str) -> str:
    """Read a secret from `NAME`, or from the file that `NAME_FILE` names (a mounted secret)."""
    if path := text(f"{name}_FILE"):
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE={path}: {error.strerror}") from None
    return text(name)


def flag(name: str, *, default: bool) -> bool:
    """Read yes or no. Raises `ImproperlyConfigured` for anything else."""
    value = text(name).lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    if value:
        raise ImproperlyConfigured(f"{name}={value}: write yes or no")
    return default


def number(name: str, default: int, *, low: int = 0, high: int = 1 << 40) -> int:
    """Read a whole number in a range. Raises `ImproperlyConfigured`."""
    value = text(name)
    if not value:
        return default
    try:
        found = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value}: write a whole number") from None
    if not low <= found <= high:
        raise ImproperlyConfigured(f"{name}={value}: write a number from {low:,} to {high:,}")
    return found


def several(name: str, default: str = "") -> list[str]:
    """Read a list separated by commas."""
    return [item.strip() for item in text(name, default).split(",") if item.strip()]


def cores() -> int:
    """Processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
