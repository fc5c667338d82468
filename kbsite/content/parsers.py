"""Tokens, bodies, pages and search terms of requests, each within bounds."""

from io import BytesIO
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, ParseError
from rest_framework.filters import SearchFilter
from rest_framework.pagination import PageNumberPagination
from rest_framework.parsers import JSONParser
from rest_framework.request import Request

from kbsite.auth import Caller, caller_of_token
from transcripts.errors import NotSignedIn, TooLarge

MAX_BODY = 1024 * 1024  # bytes of JSON
MAX_WORDS = 10  # in a search; each is a condition on every field


class TokenAuthentication(BaseAuthentication):
    """Accept the bearer tokens of the other APIs."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return user and token, or None without a bearer token."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.casefold() != "bearer":
            return None
        try:
            caller: Caller = caller_of_token(text.strip())
        except NotSignedIn as error:
            raise AuthenticationFailed(error.message) from error
        return caller.user, caller.token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="cuebase"'


class BoundedJSONParser(JSONParser):
    """Parse JSON of bounded size and depth."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Raises TooLarge and ParseError."""
        data = stream.read(MAX_BODY + 1)
        if len(data) > MAX_BODY:
            raise TooLarge(f"The body has more than {MAX_BODY:,} bytes.")
        try:
            return super().parse(BytesIO(data), media_type, parser_context)
        except RecursionError as error:
            raise ParseError("JSON parse error: nested too deeply.") from error


class Pages(PageNumberPagination):
    page_size = 25
    page_size_query_param = "pageSize"
    max_page_size = 100


class Search(SearchFilter):
    def get_search_terms(self, request: Request) -> list[str]:
        return list(super().get_search_terms(request))[:MAX_WORDS]
