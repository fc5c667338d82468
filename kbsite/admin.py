"""The admin of tokens (a new one's text is shown once), links, webhooks and repeated requests."""

from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialApp, SocialToken
from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop
from oauth2_provider.models import AccessToken, Grant, IDToken, RefreshToken

from kbsite.models import (
    ApiToken,
    KeyedRequest,
    SignInLink,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
    WritePosition,
)
from transcripts.admin import AuditedAdmin, RecordAdmin, Table
from transcripts.models import Collection

if TYPE_CHECKING:  # Django's classes cannot be subscripted at run time
    TokenForm = forms.ModelForm[ApiToken]
else:
    TokenForm = forms.ModelForm

# Libraries register rows that are nobody's to edit, and secrets.
for _kept in (
    AccessToken,
    Authenticator,
    EmailAddress,
    Grant,
    IDToken,
    RefreshToken,
    SocialToken,
    SocialApp,
    Group,
    User,
):
    admin.site.unregister(_kept)


# For our catalogue: Django's has no German for them, or one that is wrong.
_TEXTS_OF_DJANGO = (
    gettext_noop("After you’ve created a user, you’ll be able to edit more user options."),
    gettext_noop("Password-based authentication"),
    gettext_noop("Enabled"),
    gettext_noop("Disabled"),
    gettext_noop("%(app)s administration"),
    gettext_noop("Enter the same password as before, for verification."),
    gettext_noop("You must type the same password each time."),
    gettext_noop(
        "Whether the user will be able to authenticate using a password or not. If disabled, they "
        "may still be able to authenticate using other backends, such as Single Sign-On or LDAP."
    ),
)


@admin.register(User)
class AuditedUserAdmin(AuditedAdmin, UserAdmin):  # type: ignore[type-arg]
    """Django's admin of users, with an audit trail."""

    # Django's widgets for many choices and for times have controls without a name.
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")


@admin.register(Group)
class AuditedGroupAdmin(AuditedAdmin, GroupAdmin):
    """Django's admin of groups, with an audit trail."""

    filter_horizontal = ()


admin.site.site_header = admin.site.site_title = "Cuebase"
admin.site.enable_nav_sidebar = False  # a script opens it, and the page jumps
admin.site.index_title = _("Everything on this server")


REVOKED_AT_ONCE = 500
_NEW_FIELDS = ("user", "name", "access", "collections", "days")
_FIXED_FIELDS = (
    "hint",
    "user",
    "application",
    "access",
    "limited",
    "readable",
    "created_at",
    "last_used_at",
    "revoked_at",
)


class NewTokenForm(TokenForm):
    """The purpose of a new token; its text is generated."""

    days = forms.IntegerField(
        label=_("Days"),
        required=False,
        min_value=1,
        max_value=3650,
        help_text=_("How long it is valid; empty: until it is revoked."),
    )

    class Meta:
        model = ApiToken
        fields = ("user", "name", "access", "collections")

    def save(self, commit: bool = True) -> ApiToken:
        """Create the token, and keep its text for the page that shows it."""
        values = self.cleaned_data
        token, self.text = ApiToken.issue(
            values["user"],
            name=values["name"],
            access=values["access"],
            collections=tuple(values["collections"]),
            days=values["days"],
        )
        self.instance = token
        return token

    def save_m2m(self) -> None:
        """Do nothing: ``save`` has set the collections."""


@admin.register(ApiToken)
class ApiTokenAdmin(Table):
    """Tokens are created, renamed, given an expiry and revoked."""

    list_display = (
        "name",
        "hint",
        "user",
        "access",
        "limited",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = (
        *("access", "limited", "created_at", "last_used_at"),
        ("revoked_at", admin.EmptyFieldListFilter),
    )
    list_select_related = ("user",)
    search_fields = ("name", "hint", "user__username")
    autocomplete_fields = ("user", "collections")
    exclude = ("digest",)
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow superusers alone: a token acts for its user, whoever created it."""
        return bool(request.user.is_active and request.user.is_superuser)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any
    ) -> Any:
        if obj is None:
            options |= {"form": NewTokenForm, "fields": _NEW_FIELDS}
        return super().get_form(request, obj, change=change, **options)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return _NEW_FIELDS if obj is None else ("name", *_FIXED_FIELDS, "expires_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Let name and expiry change; what a token may do never does."""
        return () if obj is None else _FIXED_FIELDS

    @admin.display(description=_("collections"))
    def readable(self, token: Any) -> str:
        collections = Collection.objects.filter(pk__in=token.collections.values("pk"))
        names = ", ".join(collections.values_list("name", flat=True))
        return names or str(_("no collection any more") if token.limited else _("all collections"))

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Leave the audit trail out, where ``issue`` has recorded the token."""
        return admin.ModelAdmin.log_addition(self, request, obj, message)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save changes; ``save_form`` has stored a new token."""
        if change:
            super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the token's text once, without a redirect: in no cookie, message or log."""
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("API token"),
            "token": obj,
            "text": obj.text_shown_once,
        }
        return TemplateResponse(request, "admin/kbsite/apitoken/token_text.html", context)

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        if change:
            return super().save_form(request, form, change)
        token = form.save()
        token.text_shown_once = form.text
        return token

    @admin.action(description=_("Revoke"), permissions=["work"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        valid = queryset.filter(revoked_at=None).select_related("user")
        self.work_on(request, valid, ApiToken.revoke, outcome=_("revoked"), most=REVOKED_AT_ONCE)


@admin.register(SignInLink)
class SignInLinkAdmin(RecordAdmin):
    """Unused links."""

    list_display = ("user", "expires_at")
    list_filter = ("expires_at",)
    list_select_related = ("user",)
    search_fields = ("user__username",)
    exclude = ("digest",)


@admin.register(Webhook)
class WebhookAdmin(RecordAdmin):
    """Webhooks are made and changed by their users; here they are seen, and deleted."""

    list_display = ("url", "user", "is_on", "failing_since", "succeeded_at", "created_at")
    list_filter = ("is_on", "created_at", ("failing_since", admin.EmptyFieldListFilter))
    list_select_related = ("user",)
    search_fields = ("url", "user__username")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        light: QuerySet[Any] = super().get_queryset(request).defer("description", "off_reason")
        return light


@admin.register(WebhookEvent)
class WebhookEventAdmin(RecordAdmin):
    """What happened and was not distributed to webhooks yet."""

    list_display = ("kind", "thing", "happened_at")
    list_filter = ("kind", "happened_at")
    search_fields = ("kind",)


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(RecordAdmin):
    """Messages of the last week."""

    list_display = ("receiver", "kind", "state", "status", "attempts", "happened_at", "finished_at")
    list_filter = ("state", "kind", "happened_at")
    list_select_related = ("webhook",)
    search_fields = ("uuid__startswith", "webhook__url")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.defer("webhook__description", "webhook__off_reason")

    @admin.display(description=_("webhook"), ordering="webhook__url")
    def receiver(self, row: Any) -> str:
        return str(row.webhook.url)


@admin.register(KeyedRequest)
class KeyedRequestAdmin(RecordAdmin):
    """Answers that are kept for a day, to be given again by their key."""

    list_display = ("key", "user", "status", "size", "created_at")
    list_filter = ("status", "created_at")
    list_select_related = ("user",)
    search_fields = ("key", "user__username")
    exclude = ("content", "headers", "fingerprint")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        light: QuerySet[Any] = super().get_queryset(request).defer("content", "headers")
        return light


@admin.register(WritePosition)
class WritePositionAdmin(RecordAdmin):
    """Where in the log the last write of each user ended, for replicas to reach."""

    list_display = ("user", "position")
    list_filter = ("user__is_active",)
    list_select_related = ("user",)
    search_fields = ("user__username",)
