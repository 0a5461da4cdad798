"""The login that the server of `tests.live` knows, unless told another."""

USER, PASSWORD = "lockwright", "Plover-42 quay"
