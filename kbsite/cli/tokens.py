"""`kb token`: create, list and revoke tokens."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

import typer
from django.db.models import Q
from django.utils import timezone

from kbsite.cli import completion, first_start
from kbsite.cli.database import open_library
from kbsite.cli.options import InCollections, Json, option
from kbsite.cli.terminal import note, print_json, print_result, say, table
from kbsite.models import ApiToken
from transcripts import library
from transcripts.errors import Conflict, InvalidInput, NotFound
from transcripts.sanitize import clean
from transcripts.scope import Scope

app = typer.Typer(no_args_is_help=True, help="Create, list and revoke tokens for REST and MCP.")


@dataclass(frozen=True, slots=True)
class TokenSummary:
    """A token without its secret; ``collections`` is None if it is not limited to some."""

    id: int
    name: str
    hint: str
    user: str
    can_write: bool
    collections: tuple[str, ...] | None
    state: str
    last_used_at: str | None
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token with its secret, which is shown once."""

    token: TokenSummary
    text: str

    def as_json(self) -> dict[str, Any]:
        return {"token": self.text, **asdict(self.token)}


@app.command("create")
def create_token(
    name: Annotated[str, typer.Argument(help="Its purpose.")],
    user: Annotated[
        str,
        option(
            "--user",
            "-u",
            help="The user it acts for; unset: the owner.",
            autocompletion=completion.user_names,
        ),
    ] = "",
    write: Annotated[
        bool, typer.Option("--write", help="May also add and change; otherwise only read.")
    ] = False,
    collection: InCollections = None,
    days: Annotated[
        int | None, option(min=1, max=36_500, help="Days of validity; unset: until revoked.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a token. Its secret is shown only here."""
    token = issue(
        open_library(), name, user=user, write=write, collections=collection or (), days=days
    )
    if as_json:
        print_json(token.as_json())
    else:
        say(token.text)
        note("Store it: it is not shown again. Send it as “Authorization: Bearer …”.")


@app.command("list")
def list_tokens(as_json: Json = False) -> None:
    """List the tokens, without their secrets."""
    open_library()
    rows = ApiToken.objects.select_related("user").prefetch_related("collections")
    tokens = [_summary(token) for token in rows]
    if as_json:
        print_json(tokens)
        return
    table(
        ("No.", "Name", "Begins", "User", "May", "State", "Last used"),
        (
            (
                token.id,
                token.name,
                f"{token.hint}…",
                token.user,
                "read and write" if token.can_write else "read",
                token.state,
                token.last_used_at or "never",
            )
            for token in tokens
        ),
        empty="There are no tokens.",
    )


@app.command("revoke")
def revoke_token(
    reference: Annotated[
        str, typer.Argument(metavar="NO|NAME", help="Its number, its name, or its beginning.")
    ],
    as_json: Json = False,
) -> None:
    """Revoke a token."""
    open_library()
    token = _find(reference)
    token.revoke()
    summary = _summary(token)
    print_result(f"Revoked {summary.name} ({summary.hint}…).", summary, as_json=as_json)


def issue(
    scope: Scope,
    name: str,
    *,
    user: str = "",
    write: bool = False,
    collections: Sequence[str] = (),
    days: int | None = None,
) -> NewToken:
    """Issue a token. Raises ``InvalidInput`` without a name, ``NotFound``."""
    name = clean(name, 80)
    if not name:
        raise InvalidInput(
            "The token has no name.",
            hint="Name it after its purpose, such as “Claude on my laptop”.",
        )
    limits = tuple(library.find_collection(scope, collection) for collection in collections)
    token, text = ApiToken.issue(
        first_start.find_user(user), name=name, can_write=write, collections=limits, days=days
    )
    return NewToken(token=_summary(token), text=text)


def _find(reference: str) -> ApiToken:
    """Return the valid token of a number, a name or a beginning."""
    condition = Q(name=reference)
    if len(reference) >= 9:
        condition |= Q(hint=reference[:9])
    if reference.isdecimal():
        condition |= Q(pk=int(reference))
    tokens = list(ApiToken.objects.filter(condition, revoked_at=None).select_related("user")[:2])
    shown = reference[:9]  # a whole token is a secret
    if not tokens:
        raise NotFound(f"There is no valid token “{shown}”.", hint="`kb token list` lists them.")
    if len(tokens) > 1:
        raise Conflict(
            f"Several tokens match “{shown}”.", hint="Give the number that `kb token list` shows."
        )
    return tokens[0]


def _summary(token: ApiToken) -> TokenSummary:
    slugs = tuple(collection.slug for collection in token.collections.all())
    return TokenSummary(
        id=token.pk,
        name=token.name,
        hint=token.hint,
        user=token.user.get_username(),
        can_write=token.can_write,
        collections=slugs if token.limited else None,
        state=_state(token),
        last_used_at=_minute(token.last_used_at),
        expires_at=_minute(token.expires_at),
    )


def _state(token: ApiToken) -> str:
    if token.revoked_at:
        return "revoked"
    return "expired" if token.expires_at and token.expires_at <= timezone.now() else "valid"


def _minute(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="minutes") if moment else None
