"""Log in, log out, change one's password."""

from typing import Any

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from advisor.accounts import login_failures
from advisor.core import journal
from advisor.core.views import Asked, page


class LogIn(LoginView):
    """The page to log in by; the browser is known afterwards by the name it logged in as."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Log in."""
        response = super().form_valid(form)
        login_failures.remember(response, form.get_user())
        return response


log_in = LogIn.as_view()
log_out = LogoutView.as_view()


def locked_out(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """Say that too many wrong passwords were tried, and how long to wait."""
    minutes = round(settings.AXES_COOLOFF_TIME * 60)
    says = (
        f"Too many wrong passwords for this name, or for several names, from this address. Wait {minutes} minutes, "
        "log in from another place or from a browser that was logged in before, or ask an administrator."
    )
    return page(request, "core/error.html", {"title": "Locked", "says": says, "status": 429}, 429)


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
    return page(request, "accounts/password.html", {"form": form})
