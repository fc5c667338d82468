"""The pages of a user's webhooks."""

from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from kbsite.callers import SignedInRequest
from kbsite.models import Webhook, WebhookKind
from kbsite.webhooks import delivery, registry
from kbsite.webhooks.receivers import MAX_ADDRESS, flaw_of
from transcripts.core.translation import translated

SHOWN: Final = 50  # deliveries


class WebhookForm(forms.Form):
    """Where messages go, and what they tell."""

    url = forms.CharField(label=gettext_lazy("Address"), max_length=MAX_ADDRESS)
    description = forms.CharField(label=gettext_lazy("Description"), max_length=200, required=False)
    events = forms.MultipleChoiceField(
        label=gettext_lazy("Tell it when"), choices=WebhookKind.choices
    )

    @property
    def needs_https(self) -> bool:
        return not settings.WEBHOOK_PRIVATE_ADDRESSES

    def clean_url(self) -> str:
        """Check that messages can go there. Raises ``ValidationError``."""
        address: str = self.cleaned_data["url"]
        if flaw := flaw_of(address):
            raise forms.ValidationError(translated(flaw))
        return address


@require_safe
def webhooks(request: SignedInRequest) -> HttpResponse:
    """List the webhooks, and offer to make one."""
    return _show_all(request, WebhookForm(initial={"events": WebhookKind.values}))


@sensitive_variables("secret")
@require_POST
def create(request: SignedInRequest) -> HttpResponse:
    """Make a webhook, and show its secret once; or show again what cannot be used."""
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _show_all(request, form)
    webhook = registry.make(request.caller, **form.cleaned_data)
    return _show(request, webhook, secret=webhook.secret)


@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: SignedInRequest, webhook_id: Any) -> HttpResponse:
    """Show a webhook and its deliveries, or change it."""
    current = registry.find(request.caller, webhook_id)
    if request.method == "POST":
        form = WebhookForm(request.POST)
        if not form.is_valid():
            return _show(request, current, form=form)
        registry.change(current, **form.cleaned_data)
        messages.success(request, _("The webhook is changed."))
        return redirect("webhook", current.uuid)
    return _show(request, current)


@require_POST
def switch(request: SignedInRequest, webhook_id: Any) -> HttpResponse:
    """Turn a webhook off or on."""
    current = registry.find(request.caller, webhook_id)
    registry.change(current, is_on=request.POST.get("is_on") == "true")
    return redirect("webhook", current.uuid)


@sensitive_variables("secret")
@require_POST
def rotate(request: SignedInRequest, webhook_id: Any) -> HttpResponse:
    """Begin a new secret, and show it once."""
    current = registry.find(request.caller, webhook_id)
    registry.rotate(current)
    return _show(request, current, secret=current.secret)


@require_POST
def test(request: SignedInRequest, webhook_id: Any) -> HttpResponse:
    """Send a test message."""
    current = registry.find(request.caller, webhook_id)
    delivery.send(registry.make_test(current))
    messages.success(request, _("A test message is on its way. Reload the page to see the result."))
    return redirect("webhook", current.uuid)


@require_POST
def delete(request: SignedInRequest, webhook_id: Any) -> HttpResponse:
    """Delete a webhook."""
    registry.delete(registry.find(request.caller, webhook_id))
    messages.success(request, _("The webhook is deleted."))
    return redirect("webhooks")


def _show_all(request: SignedInRequest, form: WebhookForm) -> HttpResponse:
    context = {"webhooks": registry.of_caller(request.caller), "form": form}
    return render(request, "kbsite/webhooks.html", context, status=422 if form.errors else 200)


def _show(
    request: SignedInRequest, webhook: Webhook, *, form: WebhookForm | None = None, secret: str = ""
) -> HttpResponse:
    form = form or WebhookForm(initial=model_to_dict(webhook, list(WebhookForm.base_fields)))
    context = {
        "webhook": webhook,
        "form": form,
        "deliveries": webhook.deliveries.all()[:SHOWN],
        "secret": secret,
    }
    return render(request, "kbsite/webhook.html", context, status=422 if form.errors else 200)
