"""The admin of keys: API tokens and sign-in links. No secret is kept, so none is shown; a new token's text is shown once, when it is made."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from kbsite.models import ApiToken, SignInLink
from transcripts.admin import RecordAdmin, Table
from transcripts.models import Collection

if TYPE_CHECKING:  # Django's own classes cannot be subscripted when they run
    TokenForm = forms.ModelForm[ApiToken]
else:
    TokenForm = forms.ModelForm

admin.site.site_header = admin.site.site_title = "Cuebase"
admin.site.index_title = "Every collection: scopes do not apply here"


class NewTokenForm(TokenForm):
    """What a new token is for; its text is made, never typed."""

    days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=3650,
        help_text="How long it is valid; empty: until it is revoked.",
    )

    class Meta:
        model = ApiToken
        fields = ("user", "name", "can_write", "collections")

    def save(self, commit: bool = True) -> ApiToken:
        """Make the token and remember its text for the one page that shows it."""
        values = self.cleaned_data
        token, self.text = ApiToken.issue(
            values["user"],
            name=values["name"],
            can_write=values["can_write"],
            collections=tuple(values["collections"]),
            days=values["days"],
        )
        self.instance = token
        return token

    def save_m2m(self) -> None:
        """Do nothing: the collections are set already."""


@admin.register(ApiToken)
class ApiTokenAdmin(Table):
    """Tokens: made, renamed, given an end, revoked."""

    list_display = (
        "name",
        "hint",
        "user",
        "can_write",
        "limited",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = (
        "can_write",
        "limited",
        "created_at",
        "last_used_at",
        ("revoked_at", admin.EmptyFieldListFilter),
    )
    list_select_related = ("user",)
    search_fields = ("name", "hint", "user__username")
    autocomplete_fields = ("user", "collections")
    exclude = ("digest",)
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Superusers alone: a token acts for its user, whoever made it."""
        return bool(request.user.is_active and request.user.is_superuser)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any
    ) -> Any:
        """Ask for little when one is made."""
        if obj is None:
            options |= {
                "form": NewTokenForm,
                "fields": ("user", "name", "can_write", "collections", "days"),
            }
        return super().get_form(request, obj, change=change, **options)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show what there is."""
        if obj is None:
            return ("user", "name", "can_write", "collections", "days")
        return (
            "name",
            "hint",
            "user",
            "can_write",
            "limited",
            "shelves",
            "created_at",
            "last_used_at",
            "expires_at",
            "revoked_at",
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Let name and end change; what a token may do is settled when it is made."""
        return (
            ()
            if obj is None
            else (
                "hint",
                "user",
                "can_write",
                "limited",
                "shelves",
                "created_at",
                "last_used_at",
                "revoked_at",
            )
        )

    @admin.display(description="collections")
    def shelves(self, token: Any) -> str:
        """Name the collections it is limited to."""
        named = Collection.objects.filter(pk__in=token.collections.values("pk")).values_list(
            "name", flat=True
        )
        return ", ".join(named) or (
            "none that is left" if token.limited else "all that the user may see"
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save changes; a new one is stored already."""
        if change:
            super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the token's text, this once. Nothing is redirected, so that it is in no cookie, no message and no log."""
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "API token",
            "token": obj,
            "text": obj.text_shown_once,
        }
        return TemplateResponse(request, "admin/kbsite/apitoken/token_text.html", context)

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        """Carry the text to the page that shows it."""
        if change:
            return super().save_form(request, form, change)
        token = form.save()
        token.text_shown_once = form.text
        return token

    @admin.action(description="Revoke", permissions=["work"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Make them useless, keeping the record."""
        count = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, f"{count} revoked.", messages.SUCCESS)


@admin.register(SignInLink)
class SignInLinkAdmin(RecordAdmin):
    """Links that were not used yet."""

    list_display = ("user", "expires_at")
    list_filter = ("expires_at",)
    list_select_related = ("user",)
    search_fields = ("user__username",)
    exclude = ("digest",)
