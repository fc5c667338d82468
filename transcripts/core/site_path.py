"""The path below which the site is served, such as /kb of https://example.org/kb; mostly "".

Django's URLs have it in front while a request is answered; these have it always.
"""

from django.conf import settings


def site_path(path: str) -> str:
    """Return the path of a page as the address bar shows it."""
    return f"{settings.PUBLIC_PATH}{path}"


def own_path(path: str) -> str:
    """Return the same as the site's routes know it: without what is in front of all of them."""
    prefix = str(settings.PUBLIC_PATH)
    is_below = prefix and f"{path}/".startswith(f"{prefix}/")
    return f"/{path[len(prefix) + 1 :]}" if is_below else path
