"""The choice between the library of this machine and that of a server."""

from django.conf import settings

from transcripts.core.errors import InvalidInput


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
