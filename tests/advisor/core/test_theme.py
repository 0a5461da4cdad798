"""The theme of the pages: the system's, or the one somebody switched to, which the server reads from a cookie."""

import re

from advisor.config.settings import BASE_DIR
from tests.advisor.people import AsUser, People, text_of

STYLES = BASE_DIR / "advisor" / "static" / "advisor" / "app.css"


def test_a_page_has_the_theme_of_the_cookie_and_no_other_word_of_it(people: People, as_user: AsUser) -> None:
    client = as_user(people.owner)
    assert '<html lang="en">' in text_of(client, "/")
    for theme in ("light", "dark"):
        client.cookies["theme"] = theme
        assert f'<html lang="en" data-theme="{theme}">' in text_of(client, "/")
    client.cookies["theme"] = "x onload=alert(1)"
    assert '<html lang="en">' in text_of(client, "/")


def test_every_colour_below_the_tokens_is_a_token() -> None:
    """A colour of its own would not follow the theme. Black behind a dialog, and white under what is always light."""
    styles = re.sub(r"/\*.*?\*/", "", STYLES.read_text(), flags=re.DOTALL)
    tokens, below = styles.split(':root[data-theme="dark"]', 1)
    screen, paper = below.split("@media print", 1)
    found = re.findall(
        r"#[0-9a-fA-F]{3,8}\b|\brgb\([^)]*\)", re.sub(r"light-dark\((?:[^()]|\([^()]*\))*\)", "", screen)
    )
    assert set(found) <= {"#fff", "rgb(0 0 0 / 40%)"}
    assert "light-dark(" in tokens
    assert "color-scheme: light;" in paper
