"""The WSGI door for waitress or any other server."""

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.config.settings")
application = get_wsgi_application()
if settings.SECRET_KEY == settings.NO_KEY:
    raise ImproperlyConfigured("There is no secret key: set SECRET_KEY or SECRET_KEY_FILE, or start by `manage.py up`.")
import_module("advisor.operations.web_server.buffering").install()
import_module("advisor.config.urls")  # every page, before the first one is asked for
# What was loaded stays for good: a full collection that walks over it stops every thread for a tenth of a second.
gc.collect()
gc.freeze()
