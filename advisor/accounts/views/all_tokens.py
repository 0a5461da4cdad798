"""The tokens of everybody: what they may do, when they were last used, and the way to end one. Never a secret."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from advisor.accounts.models import Token
from advisor.accounts.services.tokens import revoke as end_token
from advisor.core.views import (
    Asked,
    administrators_only,
    page,
    paged,
)


@administrators_only
def listing(request: Asked) -> HttpResponse:
    """List them, newest first."""
    some = paged(request, Token.objects.select_related("user"))
    return page(request, "accounts/all_tokens.html", {"some": some, "now": timezone.now()})


@administrators_only
@require_POST
def revoke(request: Asked, pk: int) -> HttpResponse:
    """End one for good."""
    token = get_object_or_404(Token.objects.select_related("user"), pk=pk)
    end_token(token, request.user, request=request)
    messages.success(request, f"{token.name} of {token.user.username} opens nothing any more.")
    return redirect("administration-tokens")
