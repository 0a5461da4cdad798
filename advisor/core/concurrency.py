"""Pages that cost much are made a few at a time: whoever comes beyond that is asked to come again."""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse

from advisor.core.error_pages import error
from advisor.core.views import Asked

P = ParamSpec("P")
View = Callable[Concatenate[Asked, P], HttpResponse]


def few_at_a_time(most: int) -> Callable[[View[P]], View[P]]:
    """Let so many of this page be made at the same time in one process; the others answer 503 at once."""
    room = threading.BoundedSemaphore(most)

    def bounded(view: View[P]) -> View[P]:
        @wraps(view)
        def entered(request: Asked, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if not room.acquire(blocking=False):
                answer = error(
                    request, 503, "Busy", "Others have such a page made just now. Load it again in a moment."
                )
                answer["Retry-After"] = "5"
                return answer
            try:
                return view(request, *args, **kwargs)
            finally:
                room.release()

        return entered

    return bounded
