"""The keys that passwords of data sources are sealed with: from the environment, or from a file of this machine.

They are apart from SECRET_KEY, so that one may be changed without the other. The newest key seals, all of them open:
put a new one before the old ones, run `manage.py reseal`, then take the old ones away.

A seal is good for one address and user alone: what is sealed for a server opens for no other one, whoever writes to
the database. Which key it was made with shows by the key's mark, so that a page can tell a wrong key without trying.
"""

import json
import os
import re
import secrets
import stat
import tempfile
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

SHORTEST = 32
"""Characters of a key (this project's figure: a made one has 64 random bytes)."""
MADE_BYTES = 64
MOST_FILE = 10_000
"""Characters that are read of the file."""
WHERE = "set LOCKWRIGHT_KEY to a random text of 32 characters or more, or LOCKWRIGHT_KEY_FILE to a file that holds one"


class NoKey(Exception):
    """There is no key to seal or to open with, or not the right one; says what is wrong and what to do."""

    def __init__(self, says: str, do: str) -> None:
        """Take both, each without a full stop."""
        super().__init__(f"{says}: {do}")
        self.says, self.do = says, do


@dataclass(frozen=True)
class Ring:
    """The keys of this machine, newest first."""

    boxes: tuple[Fernet, ...]
    marks: tuple[str, ...]
    """Which key is which: 16 hexadecimal digits that tell nothing of it."""

    @property
    def newest(self) -> str:
        """The mark of the key that seals."""
        return self.marks[0]


@dataclass(frozen=True)
class Sealed:
    """A sealed password, and the mark of the key it was sealed with."""

    text: str
    mark: str


@sensitive_variables()
def ring() -> Ring:
    """The keys, read anew each time: a file that was changed counts at once. Raises `NoKey`."""
    found = settings.SOURCE_KEYS or _in_file()
    if not found:
        raise NoKey("there is no key for passwords of data sources", WHERE)
    if any(len(one) < SHORTEST for one in found):
        raise NoKey(f"a key for passwords of data sources is shorter than {SHORTEST} characters", WHERE)
    return Ring(
        tuple(Fernet(urlsafe_b64encode(_derived(one, "sealing", 32))) for one in found),
        tuple(_derived(one, "mark", 8).hex() for one in found),
    )


@sensitive_variables()
def seal(password: str, belongs_to: str) -> Sealed:
    """Seal a password for one address and user, as `belongs_to` writes them. Raises `NoKey`."""
    keys = ring()
    held = json.dumps({"password": password, "for": belongs_to})
    return Sealed(keys.boxes[0].encrypt(held.encode()).decode(), keys.newest)


@sensitive_variables()
def unseal(sealed: str, belongs_to: str) -> str:
    """Open a seal. Raises `NoKey` where no key opens it, or where it was made for another address or user."""
    try:
        held = json.loads(MultiFernet(ring().boxes).decrypt(sealed.encode()))
    except InvalidToken:
        raise NoKey(
            "the password was sealed with another key than this machine has",
            "put that key behind the ones of LOCKWRIGHT_KEY or of its file, or type the password again",
        ) from None
    if held["for"] != belongs_to:
        raise NoKey("the password was sealed for another address or user", "type the password again")
    return str(held["password"])


@sensitive_variables()
def resealed(sealed: str) -> Sealed:
    """The same seal made anew with the newest key. Raises `NoKey`."""
    keys = ring()
    try:
        return Sealed(MultiFernet(keys.boxes).rotate(sealed.encode()).decode(), keys.newest)
    except InvalidToken:
        raise NoKey("it was sealed with another key", "put that key behind the newest one") from None


def make_file() -> None:
    """Make the file with a key, for its owner alone, where no key is given and no file is there."""
    path = Path(settings.SOURCE_KEY_FILE)
    if settings.SOURCE_KEYS or settings.SOURCE_KEY_FILE_GIVEN or path.exists():
        return
    write_whole(path, f"{secrets.token_urlsafe(MADE_BYTES)}\n")


def write_whole(path: Path, text: str) -> None:
    """Write a new file for its owner alone: whole at once and kept through a power cut; one that is there stays."""
    handle, written = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was quicker: its key is the key
            os.link(written, path)  # nobody reads an empty one, none is ever replaced
    finally:
        Path(written).unlink()
    keep_names(path.parent)


def keep_names(folder: Path) -> None:
    """Have the names of the files in a folder outlive a power cut."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(held)
    finally:
        os.close(held)


def _in_file() -> list[str]:
    """The keys in the file, separated by blanks, commas or lines; none where there is no file. Raises `NoKey`."""
    path = Path(settings.SOURCE_KEY_FILE)
    try:
        with path.open(encoding="utf-8") as file:
            if not settings.SOURCE_KEY_FILE_GIVEN and os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise NoKey("others may read the key file of data sources", f"take that away: chmod 600 {path}")
            text = file.read(MOST_FILE)
    except FileNotFoundError:
        if settings.SOURCE_KEY_FILE_GIVEN:
            raise NoKey("the file that LOCKWRIGHT_KEY_FILE names is not there", "put it back") from None
        return []
    except OSError as error:
        raise NoKey(f"the key file of data sources cannot be read ({error.strerror})", "look at who owns it") from None
    except UnicodeDecodeError:
        raise NoKey("the key file of data sources is no text", "put the right file there") from None
    return [one for one in re.split(r"[,\s]+", text) if one]


@sensitive_variables()
def _derived(key: str, use: str, length: int) -> bytes:
    info = f"lockwright data sources, {use}".encode()
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(key.encode())
