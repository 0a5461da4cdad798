"""Settings: every value from the environment, a bad one stops the start.

Without any value the embedded service runs: SQLite and a private Redis under `run/`, on this machine alone.
`SITE_URL=https://…` makes it a production site: secure cookies, HSTS, its host allowed.
"""

import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url

from advisor.core import env

BASE_DIR = Path(__file__).resolve().parents[2]
EXAMPLES = BASE_DIR / "advisor" / "examples"
"""Exports of made systems, in `audits/` and `comparisons/`, which a new user sees and `manage.py seed` varies."""
RUN_DIR = Path(env.text("RUN_DIR") or BASE_DIR / "run")
"""What the embedded service writes: database, broker, key. Owner only."""

SPOOL_DIR = RUN_DIR / "spool"
"""Where uploads are unpacked while they are read, if the folder is there; `up` makes and clears it at its start."""

# Drop folders lie under these, nowhere else: a page must not read any file of the machine. Each team's own folder is
# <one of these>/<team>; only an administrator may choose another one.
DROP_FOLDERS = [Path(one).absolute() for one in env.several("DROP_FOLDERS")] or [RUN_DIR.absolute() / "drop"]
COLLECTORS_DIR = Path(env.text("COLLECTORS_DIR") or RUN_DIR / "collectors").absolute()
"""Programs an operator of this machine put there are collectors (`collectors.live.program`)."""

SITE_URL = (env.text("SITE_URL") or "http://127.0.0.1:8000").rstrip("/")
SECURE = SITE_URL.startswith("https://")
DEBUG = False

# The embedded service makes its key once (manage.py up); the check advisor.E001 speaks where there is none.
KEY_FILE = RUN_DIR / "secret_key"
SECRET_KEY = env.secret("SECRET_KEY") or (KEY_FILE.read_text().strip() if KEY_FILE.is_file() else "")
SECRET_KEY_FALLBACKS = env.several("SECRET_KEY_FALLBACKS")
# Passwords of data sources have keys of their own, newest first (`schedules.sources.keys` reads them).
SOURCE_KEYS = [one for part in env.several("LOCKWRIGHT_KEY") for one in part.split()]
SOURCE_KEY_FILE_GIVEN = bool(env.text("LOCKWRIGHT_KEY_FILE"))
SOURCE_KEY_FILE = Path(env.text("LOCKWRIGHT_KEY_FILE") or RUN_DIR / "source_key")
ALLOWED_SOURCES = env.several("ALLOWED_SOURCES")
"""Networks (10.1.0.0/16), host names (*.db.example.org) and names of odbc.ini (DSN=PROD) that data sources may lie in;
empty: any but link-local addresses."""
NO_KEY = "no-key-was-set"
"""A mark, so that commands without a need for a key run; nothing is served or sealed with it."""
SECRET_KEY = SECRET_KEY or NO_KEY

ALLOWED_HOSTS = env.several("ALLOWED_HOSTS") or [urlsplit(SITE_URL).hostname or "localhost", "127.0.0.1", "localhost"]
CSRF_TRUSTED_ORIGINS = [SITE_URL]

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "axes",
    "csp",
    "django_celery_beat",
    "django_htmx",
    "ninja",
    "advisor.config.apps.LockwrightConfig",
    "advisor.core",
    "advisor.accounts",
    "advisor.uploads",
    "advisor.audits",
    "advisor.systems",
    "advisor.findings",
    "advisor.schedules",
    "advisor.notifications",
    "advisor.ase",
    "advisor.openvms",
    "advisor.series",
    "advisor.operations",
]
MIDDLEWARE = [
    "advisor.operations.views.metrics.Measured",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "advisor.core.private_pages.PrivateMiddleware",
    "advisor.operations.version_middleware.VersionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "advisor.accounts.middleware.MustChangeMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "advisor.config.urls"
WSGI_APPLICATION = "advisor.config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "environment": "advisor.config.page_jinja.environment",
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "advisor.findings.views.listing.navigation",
            ],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.Jinja2"

# One database. SQLite: writers wait for each other instead of failing, readers never wait (knowledge: WAL, IMMEDIATE).
# What is answered "taken" must outlive a power cut: FULL, each commit waits for the disk (NORMAL: only checkpoints do).
SQLITE: dict[str, Any] = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": str(RUN_DIR / "lockwright.sqlite3"),
    "OPTIONS": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA foreign_keys=ON;",
    },
}
DATABASE_URL = env.secret("DATABASE_URL")
DATABASES: dict[str, Any] = {
    # a database that was started again has closed what a thread kept: that is found out before it is used
    "default": dict(dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True))
    if DATABASE_URL
    else SQLITE
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    # a database whose machine has died, or is cut off, is given up after half a minute, not after the two hours of
    # TCP; what the URL says goes before. The other way round: `infrastructure_errors.set_session`.
    given = {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    given["tcp_user_timeout"] = 25_000
    DATABASES["default"]["OPTIONS"] = given | DATABASES["default"].get("OPTIONS", {})
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "login", "overview", "login"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Five wrong passwords lock the pair of name and address for 15 minutes (this project's figures).
AXES_FAILURE_LIMIT = env.number("LOGIN_FAILURES", 5, low=1)
AXES_COOLOFF_TIME = env.number("LOGIN_LOCK_MINUTES", 15, low=1) / 60
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "advisor.accounts.login_failures.Handler"
AXES_CLIENT_IP_CALLABLE = "advisor.accounts.login_failures.place"
# Who is locked and goes on trying makes the lock no longer: else one behind a shared address could hold it for ever.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_USERNAME_CALLABLE = "advisor.accounts.login_failures.name_typed"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_LOCKOUT_CALLABLE = "advisor.accounts.views.login.locked_out"
PROXIES = env.number("PROXIES", 0, high=10)
TRUSTED_PROXY = env.text("TRUSTED_PROXY", "127.0.0.1")
"""How many proxies of your own stand before the service, and the address the last one comes from. The web server is
told (`up`); it sets the visitor's address and scheme, which the journal, the lock-out and the cookies go by."""

# Nothing is loaded from another host; no script and no style stands in a page. `data:` is for Swagger's icons.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
CSRF_FAILURE_VIEW = "advisor.core.error_pages.csrf_failed"
if SECURE:
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 365 * 86400
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]

CONNECTIONS_PER_ADDRESS = env.number("CONNECTIONS_PER_ADDRESS", 100, high=1000)
"""Connections that one address (of IPv6: one /64) may hold; 0: as many as it likes. A proxy of ours is not counted."""
REQUEST_SECONDS = env.number("REQUEST_SECONDS", 60, low=1)
"""Seconds that the head of a request, and a body of up to 64 KB of somebody unknown, may take (this project's figure:
nginx gives a head as long, and a body of 64 KB comes in time at 1.1 KB a second)."""
WEB_THREADS = env.number("WEB_THREADS", 16, low=2, high=200)
WEB_PROCESSES = env.number("WEB_PROCESSES", max(1, min(env.cores(), WEB_THREADS // 4)), low=1, high=WEB_THREADS)
"""Processes of the web server, which share threads and connections: one per core, of four threads or more each."""

# Uploads: bounds of one upload and of what it unpacks to (this project's figures: a month of T4 is 58 MB).
UPLOAD_FILES = env.number("UPLOAD_FILES", 500, low=1)
UPLOAD_MB = env.number("UPLOAD_MB", 256, low=1)
UPLOAD_UNPACKED_MB = env.number("UPLOAD_UNPACKED_MB", 1024, low=1)
DATA_UPLOAD_MAX_NUMBER_FILES = UPLOAD_FILES
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 << 20
FILE_UPLOAD_MAX_MEMORY_SIZE = 1 << 20
FILE_UPLOAD_HANDLERS = ["advisor.uploads.handlers.BoundedUploadHandler"]

STATIC_URL = "/static/"
STATIC_ROOT = RUN_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "advisor" / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = ["png", "map"]
"""Pictures are compressed; source maps are for debuggers alone, and took as long to compress as all else together."""

USE_TZ = True
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_I18N = False

# Celery: prefork, and a hard limit, which alone ends a reader or a driver that hangs in C (knowledge: stack 1.5).
BROKER_URL = env.text("BROKER_URL") or f"redis+socket://{RUN_DIR / 'redis.sock'}"
TASK_SECONDS = env.number("TASK_SECONDS", 900, low=10)
# Collectors that wait at a time for servers which did not answer the last time; of the 4 that `up` starts, half.
SILENT_AT_ONCE = env.number("SILENT_AT_ONCE", 2, low=1)
CELERY_BROKER_URL = BROKER_URL
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = TASK_SECONDS
CELERY_TASK_SOFT_TIME_LIMIT = TASK_SECONDS - 5
MAIL_ANSWER_SECONDS = env.number("MAIL_ANSWER_SECONDS", max(5, min(600, TASK_SECONDS - 60)), low=1)
"""How long the mail server may think about a mail it was handed over whole (RFC 5321, 4.5.3.2.6: ten minutes): who
gives up earlier sends it twice."""
KEEPALIVE = {
    getattr(socket, name): value
    for name, value in {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}.items()
    if hasattr(socket, name)
}
"""Seconds, seconds, times (this project's figures); not every system has all three."""
# A task may be given out again only after its hard limit, or it would run twice.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": TASK_SECONDS + 60,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_timeout": 10,
    # who waits for a task hears nothing for hours: a broker whose machine has died is noticed after half a minute, not
    # after two hours (left out for a unix socket)
    "socket_keepalive": True,
    "socket_keepalive_options": KEEPALIVE,
    # a page does not wait for a broker that is away: the sweep of a minute starts what is waiting
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.2,
}
PDF_MB = env.number("PDF_MB", 200, high=100_000)
"""Megabytes of PDFs of audits that are kept, the newest ones; 0: none is kept, and none made before it is asked for."""
# Six queues, by whom their tasks wait for: nobody (celery, clock), a program or a mounted folder, a mail server, a
# receiver; and one for what nobody waits for (prints). What hangs in one keeps no other waiting. A worker without -Q
# serves all.
CELERY_TASK_QUEUES = {
    name: {"exchange": name, "routing_key": name} for name in ("celery", "runs", "clock", "mail", "hooks", "prints")
}
CELERY_TASK_ROUTES = {
    "advisor.operations.tasks.tick": {"queue": "clock"},
    "advisor.operations.tasks.start_waiting": {"queue": "clock"},
    "advisor.schedules.tasks.make_run": {"queue": "runs"},
    "advisor.schedules.tasks.try_source": {"queue": "runs"},
    "advisor.notifications.tasks.notify": {"queue": "mail"},
    "advisor.notifications.tasks.notify_due": {"queue": "mail"},
    "advisor.notifications.tasks.send_mails": {"queue": "mail"},
    "advisor.notifications.tasks.deliver": {"queue": "hooks"},
    "advisor.audits.tasks.print_pdf": {"queue": "prints"},
}
# A worker keeps its connection from task to task, as long as DATABASES says (a new one cost PostgreSQL two thirds of
# its time, `make bench-fleet`); celery.py looks whether it still lives.
CELERY_DB_REUSE_MAX = 1_000
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker as long as that takes
CELERY_BEAT_SCHEDULER = "advisor.config.beat:Scheduler"
CELERY_TIMEZONE = TIME_ZONE

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "filters": {"hidden_links": {"()": "advisor.core.hidden_links.HiddenLinks"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["hidden_links"]}},
    "loggers": {
        # that it serves is said by `up`, where and how to get in besides
        "waitress": {"level": "WARNING"},
        # a request that waits a moment for a thread of its process is no event; /metrics has how long requests take
        "waitress.queue": {"level": "ERROR"},
        # what a print style sheet has no use for is no event
        "weasyprint": {"level": "ERROR"},
        "fontTools": {"level": "ERROR"},
        # these tell paths, also to handlers that are not ours
        "django.request": {"filters": ["hidden_links"]},
        "django.security.csrf": {"filters": ["hidden_links"]},
        "django.server": {"handlers": ["stderr"], "level": "INFO", "propagate": False, "filters": ["hidden_links"]},
    },
    "root": {"handlers": ["stderr"], "level": env.text("LOG_LEVEL", "WARNING")},
}
