"""Settings, addresses, Celery and WSGI: where the apps are put together."""
