"""The library that was chosen: that of this machine, or of a server."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from kbsite.settings.options import ENV_FILE
from transcripts.core.errors import InvalidInput, NotSignedIn

if TYPE_CHECKING:
    from kbsite.library.base import Library


def address() -> str:
    """Return the address of --server, or else of CUEBASE_SERVER; empty: this machine."""
    return str(settings.CUEBASE_SERVER).strip()


def refuse(command: str) -> None:
    """Raise ``InvalidInput`` for a command of this machine, if a server is chosen."""
    if address():
        raise InvalidInput(
            f"`kb {command}` works on the library of this machine, not on {address()}.",
            hint=f'For that of this machine: kb --server "" {command} … On the server, run it'
            " there, or use its pages.",
        )


def chosen_library() -> "Library":
    """Open the library of the server that was chosen, by default that of this machine.

    Its module is imported here, because completions and listings need only the address.
    """
    name, where = "local.LocalLibrary", tuple[str, ...]()
    if address():
        if not settings.CUEBASE_TOKEN:
            raise NotSignedIn(
                f"There is no token for {address()}.",
                hint="Make one on its page Tokens, and write CUEBASE_TOKEN=kb_… into"
                f" {ENV_FILE}, or set it in the environment.",
            )
        name, where = "remote.RemoteLibrary", (address(), settings.CUEBASE_TOKEN)
    library: Library = import_string(f"kbsite.library.{name}")(*where)
    return library
