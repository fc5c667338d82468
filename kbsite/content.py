"""The content API under /api/content/ (Django REST framework, browsable): the content types as resources."""

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from kbsite.auth import Caller, caller_of_token


class TokenAuthentication(BaseAuthentication):
    """Accept the same bearer tokens as every other door."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return user and token, or None where no bearer token was sent."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.casefold() != "bearer":
            return None
        caller: Caller = caller_of_token(text.strip())
        return caller.user, caller.token

    def authenticate_header(self, request: Request) -> str:
        """Say how to authenticate."""
        return 'Bearer realm="cuebase"'


class Pages(PageNumberPagination):
    """25 a page, at most 100."""

    page_size = 25
    page_size_query_param = "pageSize"
    max_page_size = 100
