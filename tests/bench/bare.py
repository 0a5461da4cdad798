"""The least that Django can serve, for the page benchmark to be held against: one view, no middleware, no database."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="none is needed", USE_I18N=False)


def ok(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [path("", ok), path("healthz", ok)]
application = get_wsgi_application()
