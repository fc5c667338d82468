"""The pages of a user's webhooks."""

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from kbsite.models import Webhook, WebhookKind
from kbsite.webhooks import registry, signatures, tasks
from kbsite.webhooks.sending import MAX_ADDRESS
from transcripts.errors import InvalidInput

SHOWN: Final = 50  # deliveries


class WebhookForm(forms.Form):
    """Where messages go, and what they tell."""

    url = forms.CharField(label=gettext_lazy("Address"), max_length=MAX_ADDRESS)
    description = forms.CharField(label=gettext_lazy("Description"), max_length=200, required=False)
    events = forms.MultipleChoiceField(
        label=gettext_lazy("Tell it when"), choices=WebhookKind.choices
    )

    def values(self) -> dict[str, Any]:
        """Return the submitted values. Raises ``InvalidInput``."""
        if self.is_valid():
            return dict(self.cleaned_data)
        name, complaints = next(iter(self.errors.items()))
        label = str(self.fields[name].label)
        raise InvalidInput(f"{label}: {complaints[0]}", hint="Go back and complete the form.")


@require_safe
def webhooks(request: Any) -> HttpResponse:
    """List the webhooks, and offer to make one."""
    rows = registry.of_caller(request.caller)
    kinds = WebhookKind.choices
    return render(request, "kbsite/webhooks.html", {"webhooks": rows, "kinds": kinds})


@never_cache
@sensitive_variables("secret")
@require_POST
def create(request: Any) -> HttpResponse:
    """Make a webhook, and show its secret once."""
    webhook = registry.make(request.caller, **WebhookForm(request.POST).values())
    return _show(request, webhook, secret=signatures.secret_of(webhook))


@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: Any, webhook_id: Any) -> HttpResponse:
    """Show a webhook and its deliveries, or change it."""
    current = registry.find(request.caller, webhook_id)
    if request.method == "POST":
        registry.change(current, **WebhookForm(request.POST).values())
        messages.success(request, _("The webhook is changed."))
        return redirect("webhook", current.uuid)
    return _show(request, current)


@require_POST
def switch(request: Any, webhook_id: Any) -> HttpResponse:
    """Turn a webhook off or on."""
    current = registry.find(request.caller, webhook_id)
    registry.change(current, is_on=request.POST.get("is_on") == "true")
    return redirect("webhook", current.uuid)


@never_cache
@sensitive_variables("secret")
@require_POST
def rotate(request: Any, webhook_id: Any) -> HttpResponse:
    """Begin a new secret, and show it once."""
    current = registry.find(request.caller, webhook_id)
    registry.rotate(current)
    return _show(request, current, secret=signatures.secret_of(current))


@require_POST
def test(request: Any, webhook_id: Any) -> HttpResponse:
    """Send a test message."""
    current = registry.find(request.caller, webhook_id)
    tasks.send(registry.make_test(current))
    messages.success(
        request, _("A test message is on its way. Reload the page to see what became of it.")
    )
    return redirect("webhook", current.uuid)


@require_POST
def delete(request: Any, webhook_id: Any) -> HttpResponse:
    """Delete a webhook."""
    registry.delete(registry.find(request.caller, webhook_id))
    messages.success(request, _("The webhook is deleted."))
    return redirect("webhooks")


def _show(request: Any, webhook: Webhook, *, secret: str = "") -> HttpResponse:
    context = {
        "webhook": webhook,
        "kinds": WebhookKind.choices,
        "deliveries": webhook.deliveries.all()[:SHOWN],
        "secret": secret,
    }
    return render(request, "kbsite/webhook.html", context)
