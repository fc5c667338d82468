"""The library of the server that was chosen."""

from django.conf import settings

from kbsite.cli import server
from kbsite.library.remote import RemoteLibrary
from kbsite.settings.options import ENV_FILE
from transcripts.core.errors import NotSignedIn


def chosen_library() -> RemoteLibrary | None:
    """Return the library of the server that was chosen; None: that of this machine is used."""
    address = server.address()
    if not address:
        return None
    if not settings.CUEBASE_TOKEN:
        raise NotSignedIn(
            f"There is no token for {address}.",
            hint="Make one on its page Tokens, and write CUEBASE_TOKEN=kb_… into"
            f" {ENV_FILE}, or set it in the environment.",
        )
    return RemoteLibrary(address, settings.CUEBASE_TOKEN)
