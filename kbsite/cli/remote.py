"""The library that was chosen: that of this machine, or of a server."""

from django.conf import settings

from kbsite.cli import server
from kbsite.library.base import Library
from kbsite.library.local import LocalLibrary
from kbsite.library.remote import RemoteLibrary
from kbsite.settings.options import ENV_FILE
from transcripts.core.errors import NotSignedIn


def chosen_library() -> Library:
    """Open the library of the server that was chosen, by default that of this machine."""
    address = server.address()
    if not address:
        return LocalLibrary()
    if not settings.CUEBASE_TOKEN:
        raise NotSignedIn(
            f"There is no token for {address}.",
            hint="Make one on its page Tokens, and write CUEBASE_TOKEN=kb_… into"
            f" {ENV_FILE}, or set it in the environment.",
        )
    return RemoteLibrary(address, settings.CUEBASE_TOKEN)
