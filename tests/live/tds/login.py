"""The login of TDS 5.0: the record a client sends, and the exchange for a password encrypted with the server's RSA key.

The exchange, as FreeTDS and SAP's own clients do it with `Encryption=require`: the record has flags for it and empty
password fields; the server answers with a public key and a nonce (message 0x1E); the client sends OAEP of nonce and
password (message 0x1F), and the same for remote servers (0x20).
"""

import os
import struct
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.live.tds import tokens

KEY_MESSAGE, PASSWORD_MESSAGE, REMOTE_MESSAGE = 0x1E, 0x1F, 0x20
WANTS_RSA = 0x80
"""The bit of the record's security flags that asks for the exchange with a nonce (SEC_LOG_ENCRYPT3)."""
WIDE_TABLES = 59
"""The bit of the requested capabilities that asks for the wide form of row formats."""
RECORD = 568
"""Bytes of the login record; capabilities follow."""
NONCE = 32
INT4, LONGBINARY = 0x38, 0xE1


class Refused(ValueError):
    """What came is no login of TDS 5.0."""


@dataclass(frozen=True)
class Login:
    """What a client said of itself. `encrypted`: it wants to send its password by the exchange."""

    host: str
    user: str
    password: str
    application: str
    packet: int
    encrypted: bool
    capabilities: bytes
    wide: bool


def read_login(record: bytes) -> Login:
    """Read the login record. Raises `Refused`."""
    if len(record) < RECORD:
        raise Refused(f"{len(record)} bytes are no login record of TDS 5.0")
    said = _field(record, 557, 6)
    asked = record[RECORD + 3 :] if record[RECORD : RECORD + 1] == bytes((tokens.CAPABILITY,)) else b""
    request = asked[2 : 2 + asked[1]] if len(asked) > 1 else b""
    return Login(
        host=_field(record, 0),
        user=_field(record, 31),
        password=_field(record, 62),
        application=_field(record, 140),
        packet=int(said) if said.isdigit() else 512,
        encrypted=bool(record[514] & WANTS_RSA),
        capabilities=asked,
        wide=bool(int.from_bytes(request, "big") >> WIDE_TABLES & 1),
    )


class Exchange:
    """One encrypted login: the challenge to send, and what comes back."""

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        """Take the server's key; the nonce is new for each login."""
        self.key, self.nonce = key, os.urandom(NONCE)

    def challenge(self) -> bytes:
        """Give the tokens that ask for the password: the key as PEM (PKCS #1) and the nonce."""
        pem = self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.PKCS1)
        # FreeTDS takes the declared lengths for the real ones: a larger one has it read beyond the nonce, and crash
        formats = struct.pack("<H", 3) + b"\0\0" + struct.pack("<I", 0) + bytes((INT4,)) + b"\0"
        for blob in (pem, self.nonce):
            formats += b"\0\0" + struct.pack("<I", 0) + bytes((LONGBINARY,)) + struct.pack("<I", len(blob)) + b"\0"
        values = struct.pack("<I", 1) + struct.pack("<I", len(pem)) + pem + struct.pack("<I", NONCE) + self.nonce
        return b"".join(
            (
                struct.pack("<BBBH", tokens.MSG, 3, 1, KEY_MESSAGE),
                struct.pack("<BH", tokens.PARAMFMT, len(formats)) + formats,
                bytes((tokens.PARAMS,)) + values,
            )
        )

    def password(self, answer: bytes) -> str | None:
        """Decrypt the password out of the client's answer; `None` where it is not what was asked for."""
        head = struct.pack("<BBBH", tokens.MSG, 3, 1, PASSWORD_MESSAGE)
        if not answer.startswith(head) or answer[len(head)] != tokens.PARAMFMT:
            return None
        (length,) = struct.unpack_from("<H", answer, len(head) + 1)
        start = len(head) + 3 + length
        if answer[start] != tokens.PARAMS:
            return None
        (size,) = struct.unpack_from("<I", answer, start + 1)
        try:
            clear = self.key.decrypt(
                answer[start + 5 : start + 5 + size],
                padding.OAEP(padding.MGF1(SHA1()), SHA1(), None),  # what the protocol says
            )
        except ValueError:
            return None
        return clear[NONCE:].decode("utf-8", "replace") if clear.startswith(self.nonce) else None


def _field(record: bytes, at: int, most: int = 30) -> str:
    """Read a field of the record: its text, and behind the room for the longest its length."""
    return record[at : at + min(record[at + most], most)].decode("utf-8", "replace")
