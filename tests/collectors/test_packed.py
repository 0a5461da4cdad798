"""Dictionaries stay as they are: what is stored cannot be read without them."""

import hashlib

from collectors.packed import paths

DIGESTS = {
    10: "4496ef95086fad6ea6676f293754f7259d95df58f818fc7e9e3f6f89a3a0a1aa",
    11: "1b3844a1081b55bb005c4af3d8bbed4879c92c440f38335c18548f0da67c5d41",
    12: "fe70ef4f24a4a644cf55fe3e47fb8643f32860b3bf84680957c71c82ecd87fd9",
    20: "b436d4ff52006f52cb69a75b7b4bbaf058af144e473db28ae59872a3a9f4052a",
    21: "b94c3c91f7bbf8de19f357efbfb93c3d13f24ebe0dd59045494c53a98dca8947",
    22: "a4fb779ee74c47f1dcfaddfb148ea91a4eed77879e17802a31782541bca41c0c",
}
"""Of the dictionaries that were released: never changed, never removed."""


def test_released_dictionaries_stay_as_they_are() -> None:
    assert {number: hashlib.sha256(path.read_bytes()).hexdigest() for number, path in paths().items()} == DIGESTS
