"""The page of metrics that Prometheus reads."""

import secrets

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client.exposition import choose_encoder

from kbsite.callers import AnyRequest, is_superuser
from kbsite.telemetry.library import AllMetrics


@login_not_required
@require_safe
def show(request: AnyRequest) -> HttpResponse:
    """Return the metrics to the bearer of METRICS_TOKEN and to superusers; others find nothing."""
    if not (_has_token(request) or is_superuser(request)):
        raise Http404
    write, kind = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(write(AllMetrics()), content_type=kind)


def _has_token(request: AnyRequest) -> bool:
    token = settings.METRICS_TOKEN.encode()
    header = request.headers.get("Authorization", "").encode()
    return bool(token) and secrets.compare_digest(header, b"Bearer " + token)
