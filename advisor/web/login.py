"""Log in, log out, change one's password."""

from typing import Any

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from advisor.services import journal
from advisor.web.kit import Asked, page

log_in = LoginView.as_view(template_name="web/login.html", redirect_authenticated_user=True)
log_out = LogoutView.as_view()


def name_typed(request: HttpRequest | None, credentials: dict[str, Any] | None = None) -> str:
    """The name somebody tried to log in by, in one spelling: `Olga` and `olga` are one person, and one lock-out."""
    typed = (credentials or {}).get("username") or (request.POST.get("username", "") if request is not None else "")
    return str(typed).upper().lower()  # the dotless i of Turkish is an I in capitals, and so the same name


def locked_out(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """Say that too many wrong passwords were tried, and how long to wait."""
    minutes = round(settings.AXES_COOLOFF_TIME * 60)
    says = f"Too many wrong passwords for this name from this address. Wait {minutes} minutes, or ask an administrator."
    return page(request, "error.html", {"title": "Locked", "says": says, "status": 429}, 429)


def change_password(request: Asked) -> HttpResponse:
    """Change one's own password."""
    form = PasswordChangeForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        user = form.save()
        user.must_change_password = False
        user.save(update_fields=["must_change_password"])
        update_session_auth_hash(request, user)
        journal.note(user, "password changed", request=request)
        return redirect("overview")
    return page(request, "password.html", {"form": form})
