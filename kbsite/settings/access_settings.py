"""Settings of access: the public address, sign-in, and programs connected by OAuth."""

import re
from typing import Any
from urllib.parse import urlsplit

from kbsite.settings.options import OPTIONS, option
from transcripts.core.access import AccessLevel

PUBLIC_URL = option(
    "PUBLIC_URL",
    "http://127.0.0.1:8000",
    "Public address of this server, for links and MCP; it may have a path (https://host/kb).",
)
_public = urlsplit(PUBLIC_URL)
PUBLIC_PATH = _public.path.rstrip("/")  # below which the site is served: /kb of https://host/kb
if not re.fullmatch(r"(/[\w.~-]+)*", PUBLIC_PATH, re.ASCII):
    raise OPTIONS["PUBLIC_URL"].refusal(repr(PUBLIC_URL), "https://example.org/kb")
FORCE_SCRIPT_NAME = PUBLIC_PATH or None
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = LANGUAGE_COOKIE_PATH = f"{PUBLIC_PATH}/"

# Sign-in

OIDC_ISSUER = option(
    "OIDC_ISSUER", "", "Address of your organisation's OIDC provider; empty: local accounts only."
)
OIDC_CLIENT_ID = option("OIDC_CLIENT_ID", "", "Client id of this server at the provider.")
OIDC_CLIENT_SECRET = option(
    "OIDC_CLIENT_SECRET", "", "Client secret of this server at the provider.", secret=True
)
OIDC_NAME = option("OIDC_NAME", "your organisation", "Name of the provider on the sign-in page.")
OIDC_SCOPES = option("OIDC_SCOPES", ["openid", "profile"], "Scopes requested from the provider.")
OIDC_GROUPS_CLAIM = option("OIDC_GROUPS_CLAIM", "groups", "Claim that lists a user's groups.")
OIDC_GROUPS = option(
    "OIDC_GROUPS",
    [],
    "Groups whose users become members, as group=collection:role; role: viewer, editor or owner.",
)
for _rule in OIDC_GROUPS:
    if not re.fullmatch(r".+=[^:]+:(viewer|editor|owner)", _rule):
        raise OPTIONS["OIDC_GROUPS"].refusal(repr(_rule), "staff=lectures:editor")
# Its library for HTTP would slow every command.
OIDC_APPS = ["allauth.socialaccount.providers.openid_connect"] if OIDC_ISSUER else []
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "SCOPE": OIDC_SCOPES,
        "APPS": [
            {
                "provider_id": "team",
                "name": OIDC_NAME,
                "client_id": OIDC_CLIENT_ID,
                "secret": OIDC_CLIENT_SECRET,
                "settings": {"server_url": OIDC_ISSUER},
            }
        ]
        if OIDC_ISSUER
        else [],
    }
}
SOCIALACCOUNT_ADAPTER = "kbsite.identity.adapters.ProviderAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a link: the policy lets forms lead to this site only
SOCIALACCOUNT_EMAIL_VERIFICATION = ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "kbsite.identity.adapters.AccountAdapter"
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Cuebase"
MFA_FORMS = {
    "authenticate": "kbsite.identity.second_factor.CodeForm",
    "reauthenticate": "kbsite.identity.second_factor.ConfirmingCodeForm",
    "activate_totp": "kbsite.identity.second_factor.ActivationForm",
}
ACCOUNT_RATE_LIMITS = False  # ``sign_in`` counts
ACCOUNT_FORMS = {"reauthenticate": "kbsite.identity.second_factor.PasswordForm"}
MFA_TOTP_TOLERANCE = 1  # steps of 30 s that a clock may be wrong by

# OAuth

OAUTH_REGISTRATION = option(
    "OAUTH_REGISTRATION", True, "Applications may register themselves; a user connects them."
)
OAUTH_CLIENT_DOCUMENTS = option(
    "OAUTH_CLIENT_DOCUMENTS",
    True,
    "Applications may identify themselves by an https address, which this server then fetches.",
)
OAUTH_REDIRECT_SCHEMES = option(
    "OAUTH_REDIRECT_SCHEMES",
    ["cursor", "vscode", "vscode-insiders"],
    "URL schemes allowed in redirect addresses, besides https and http on the user's machine.",
)
OAUTH_DAYS = option(
    "OAUTH_DAYS", 60, "Days after which a connection that is not used ends.", least=1
)
OAUTH2_PROVIDER_APPLICATION_MODEL = "oauth2_provider.Application"
OAUTH2_PROVIDER: dict[str, Any] = {
    # On one machine it is the name that is used: 127.0.0.1 or localhost, and the port.
    "OIDC_ISS_ENDPOINT": ""
    if _public.hostname in ("127.0.0.1", "localhost", "::1") and not PUBLIC_PATH
    else f"{_public.scheme}://{_public.netloc}{PUBLIC_PATH}",
    "SCOPES": {level: level for level in AccessLevel},  # the page has its own words
    "SCOPES_BACKEND_CLASS": "kbsite.oauth.tokens.Scopes",
    "DEFAULT_SCOPES": [AccessLevel.READ],
    "OAUTH2_SERVER_CLASS": "oauthlib.oauth2.WebApplicationServer",
    "OAUTH2_VALIDATOR_CLASS": "kbsite.oauth.tokens.Validator",
    "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
    "OAUTH2_GRANT_TYPES_SUPPORTED": ["authorization_code", "refresh_token"],
    "OAUTH2_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED": [
        *("none", "client_secret_post", "client_secret_basic")
    ],
    "OAUTH2_PROTECTED_RESOURCE_NAME": "Cuebase",
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3_600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": OAUTH_DAYS * 86_400,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 30,  # for the same successor: ``oauth.tokens``
    "ACCESS_TOKEN_GENERATOR": "kbsite.oauth.tokens.access_token",
    "REFRESH_TOKEN_GENERATOR": "kbsite.oauth.tokens.refresh_token",
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http", *OAUTH_REDIRECT_SCHEMES],
    "ALLOW_LOCALHOST_LOOPBACK": True,
    "DCR_ENABLED": OAUTH_REGISTRATION,
    "DCR_REGISTRATION_PERMISSION_CLASSES": ["oauth2_provider.dcr.AllowAllDCRPermission"],
    "CIMD_ENABLED": OAUTH_CLIENT_DOCUMENTS,
    "CIMD_METADATA_FETCHER": "kbsite.oauth.clients.DocumentFetcher",
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ["kbsite.oauth.clients.DocumentPermission"],
    # Each recommendation of RFC 9700 holds; ``oauth.clients`` sees to redirect addresses.
    **{
        f"COMPLIANT_BCP_RFC9700_{name}": True
        for name in (
            *("IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "ACCESS_TOKEN_TRANSPORT"),
            *("AUTHZ_RESPONSE_ISS", "TOKEN_STORAGE", "REFRESH_TOKEN", "REDIRECT_URI_MATCHING"),
            "PKCE_REQUIRED",
        )
    },
}
SILENCED_SYSTEM_CHECKS = [
    "oauth2_provider.E001",  # successors are derived again, so that hashes suffice for the grace
    "oauth2_provider.W008",  # http is for the user's own machine only
]

# Webhooks

WEBHOOK_PRIVATE_ADDRESSES = option(
    "WEBHOOK_PRIVATE_ADDRESSES",
    False,
    "Webhooks may use private addresses and http: every user can then reach your network.",
)

# Programs that use another machine's library

CUEBASE_SERVER = option(
    "CUEBASE_SERVER",
    "",
    "Address of a server whose library `kb` uses (https://kb.example.org); empty: that of this "
    "machine.",
)
CUEBASE_TOKEN = option("CUEBASE_TOKEN", "", "Token for that server.", secret=True)
CUEBASE_PLAIN_HTTP = option(
    "CUEBASE_PLAIN_HTTP",
    False,
    "Programs may send tokens without https to servers other than this machine.",
)
