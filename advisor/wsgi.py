"""The WSGI door for waitress or any other server."""

import gc
import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")
application = get_wsgi_application()
import_module("advisor.urls")  # every page, before the first one is asked for
# What was loaded stays for good: a full collection that walks over it stops every thread for a tenth of a second.
gc.collect()
gc.freeze()
