"""People: who they are, what they may do, the way back in for who forgot or is locked out."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from advisor.accounts.forms import AddForm, EditForm
from advisor.accounts.models import Team, User
from advisor.accounts.services import lock_outs, people
from advisor.core.views import Asked, administrators_only, page, refusal_in, refusal_told


@administrators_only
def listing(request: Asked) -> HttpResponse:
    """List users and teams."""
    locked = lock_outs.locked_out()
    users = [
        {"user": user, "teams": list(user.teams.all()), "locked": locked.get(user.username.lower())}
        for user in User.objects.prefetch_related("teams")
    ]
    teams = Team.objects.annotate(
        people=Count("users", distinct=True),
        system_count=Count("systems", distinct=True),
        upload_count=Count("uploads", distinct=True),
    )
    return page(request, "accounts/people.html", {"users": users, "teams": teams})


@administrators_only
@never_cache
def add(request: Asked) -> HttpResponse:
    """Add a person, and show the password made for them this once."""
    form = AddForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "username"):
            user, password = people.add_user(
                form.cleaned_data["username"],
                request.user,
                role=form.cleaned_data["role"],
                name=form.cleaned_data["name"],
                email=form.cleaned_data["email"],
                teams=form.cleaned_data["teams"],
                request=request,
            )
            return _password(request, user, password, "Added")
    return page(request, "accounts/user_add.html", {"form": form})


@administrators_only
def edit(request: Asked, pk: int) -> HttpResponse:
    """Change a person. One's own account cannot be deactivated, so there is no field for it."""
    user = get_object_or_404(User, pk=pk)
    form = EditForm(request.POST or None, instance=user)
    if user == request.user:
        del form.fields["is_active"]
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            changed = people.change_user(
                user,
                request.user,
                role=form.cleaned_data["role"],
                name=form.cleaned_data["name"],
                email=form.cleaned_data["email"],
                teams=form.cleaned_data["teams"],
                active=form.cleaned_data.get("is_active", True),
                request=request,
            )
            messages.success(request, f"{user.username}: {'; '.join(changed) or 'nothing was changed'}.")
            return redirect("administration")
    locked = lock_outs.locked_out().get(user.username.lower())
    context = {"form": form, "who": user, "oneself": user == request.user, "locked": locked}
    return page(request, "accounts/user.html", context)


@administrators_only
@require_POST
@never_cache
def set_password(request: Asked, pk: int) -> HttpResponse:
    """Make a person a new password, and show it this once."""
    user = get_object_or_404(User, pk=pk)
    with refusal_told(request):
        password = people.set_new_password(user, request.user, request)
        return _password(request, user, password, "A new password is set")
    return redirect("administration-user", pk)


@administrators_only
@require_POST
def unlock(request: Asked, pk: int) -> HttpResponse:
    """Let a person try again who was locked out by wrong passwords."""
    user = get_object_or_404(User, pk=pk)
    lock_outs.unlock(user, request.user, request)
    messages.success(request, f"{user.username} may try to log in again.")
    return redirect("administration")


def _password(request: Asked, user: User, password: str, done: str) -> HttpResponse:
    """The page that shows a made password: the answer itself, so that the password is stored nowhere in plain."""
    return page(request, "accounts/new_password.html", {"who": user, "password": password, "done": done})
