"""The page on which a user connects an application: to which collections, and what it may do."""

from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from django import forms
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from oauth2_provider.exceptions import OAuthToolkitError
from oauth2_provider.forms import AllowForm
from oauth2_provider.models import Application
from oauth2_provider.views import AuthorizationView
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error, InvalidRequestError

from kbsite.models.credentials import ACCESS_LABELS, ApiToken
from kbsite.oauth import audience, connections
from kbsite.oauth.clients import LOOPBACK
from transcripts.core.access import AccessLevel
from transcripts.core.errors import InvalidInput
from transcripts.core.views.requests import PageRequest
from transcripts.models import Collection


class ConsentForm(AllowForm):
    """What the user allows; the hidden fields of the toolkit repeat the request."""

    access = forms.ChoiceField(choices=ACCESS_LABELS, required=False)
    collections = forms.ModelMultipleChoiceField(Collection.objects.none(), required=False)

    def __init__(self, *args: Any, visible: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["collections"].queryset = visible

    @property
    def offered(self) -> list[tuple[str, Any, bool]]:
        """What the application asks for: each level, in words, and whether it is chosen."""
        requested = AccessLevel.of_scopes(self["scope"].value() or "")
        chosen = AccessLevel(self["access"].value()).at_most(requested)
        return [
            (level, label, level == chosen)
            for level, label in ACCESS_LABELS
            if level in requested.scopes
        ]

    def clean(self) -> dict[str, Any]:
        """Grant the chosen scopes, at most those that were requested."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        chosen = AccessLevel(values.get("access") or AccessLevel.READ)
        granted = chosen.at_most(AccessLevel.of_scopes(values.get("scope", "")))
        return {**values, "scope": " ".join(granted.scopes)}


@method_decorator(login_not_required, name="dispatch")
class Consent(AuthorizationView):
    """Answers an authorization request once its user has decided."""

    template_name = "kbsite/consent.html"
    form_class = ConsentForm
    collections: Sequence[Collection] = ()  # that the user has chosen; none: all

    def get_form_kwargs(self) -> dict[str, Any]:
        visible = Collection.objects.visible(self.request.access)
        return {**super().get_form_kwargs(), "visible": visible}

    def get_initial(self) -> dict[str, Any]:
        """Choose what the user has allowed the application before, else to read everything.

        To manage is for the user alone to choose.
        """
        initial: dict[str, Any] = super().get_initial()
        earlier = (
            connections.live(self.request.user)
            .filter(application__client_id=initial["client_id"])
            .first()
        )
        if earlier is None:
            return {**initial, "access": AccessLevel.READ}
        chosen = [collection.pk for collection in earlier.collections.all()]
        return {**initial, "access": AccessLevel.WRITE, "collections": chosen}

    def validate_authorization_request(self, request: HttpRequest) -> Any:
        """Refuse other servers' resources and weak challenges before anybody is asked."""
        scopes, credentials = super().validate_authorization_request(request)
        state, own = credentials.get("state"), audience.origin_of(request)
        error: Exception | None = None
        if not all(audience.is_own(resource, own) for resource in request.GET.getlist("resource")):
            error = CustomOAuth2Error("invalid_target", "Not a part of this server.", state=state)
        elif credentials.get("code_challenge_method") != "S256":
            error = InvalidRequestError("code_challenge_method must be S256.", state=state)
        if error:
            raise OAuthToolkitError(error=error, redirect_uri=credentials["redirect_uri"])
        return scopes, credentials

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Ask, whatever the application wants to be done without asking."""
        fields = request.GET.copy()
        fields.pop("approval_prompt", None)
        request.GET = cast(Any, fields)
        response: HttpResponse = super().get(request, *args, **kwargs)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        own = audience.origin_of(self.request)
        if not all(
            audience.is_own(resource, own) for resource in form.cleaned_data["resource"].split()
        ):
            return self.form_invalid(form)
        self.collections = form.cleaned_data["collections"]
        response: HttpResponse = super().form_valid(form)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        raise InvalidInput("This cannot be allowed.", hint="Start again from the application.")

    def create_authorization_response(
        self, request: PageRequest, scopes: str, credentials: dict[str, Any], allow: bool
    ) -> Any:
        """Store the connection together with the code that the application gets."""
        with transaction.atomic():
            response = super().create_authorization_response(request, scopes, credentials, allow)
            application = Application.objects.get(client_id=credentials["client_id"])
            ApiToken.connect(
                request.user,
                application,
                secret=parse_qs(urlsplit(response[0]).query)["code"][0],
                name=str(application),
                access=AccessLevel.of_scopes(scopes),
                collections=tuple(self.collections),
            )
        return response

    def render_to_response(self, context: dict[str, Any], **options: Any) -> Any:
        """Let the form lead to the application; nothing else on the site leads elsewhere."""
        response: Any = super().render_to_response(context, **options)
        if target := context.get("redirect_uri"):
            parts = urlsplit(target)
            is_web = parts.scheme in ("http", "https")
            context |= {
                "destination": parts.netloc if is_web else f"{parts.scheme}:",
                "is_local": not is_web or parts.hostname in LOOPBACK,
                "document_host": urlsplit(context["application"].client_id).hostname,
            }
            source = f"{parts.scheme}://{parts.netloc}" if is_web else f"{parts.scheme}:"
            response._csp_update = {"form-action": [source]}
        return response
