"""Settings: every value from the environment, a bad one stops the start."""

from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent

# The command line needs no server and signs nothing; the web page brings its own key.
SECRET_KEY = "command-line-only"  # noqa: S105
INSTALLED_APPS = ["advisor"]
DATABASES: dict[str, dict[str, object]] = {}
USE_TZ = True
TIME_ZONE = "UTC"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {"environment": "advisor.jinja.environment"},
    }
]
