"""The tables of the site: credentials, and requests that are answered once."""

from kbsite.models.credentials import ApiToken, SignInLink, digest
from kbsite.models.keyed_requests import KeyedRequest

__all__ = ["ApiToken", "KeyedRequest", "SignInLink", "digest"]
