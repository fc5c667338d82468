"""Web pages: fetches one from its public address, and stores it as the document that it was then.

Neither an address nor its redirects lead into this machine or its network; what comes is limited in
time and size, and no script is run.
"""

import time
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import IO, Final
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies

import requests
import urllib3
import webencodings
from django.conf import settings
from requests.adapters import BaseAdapter, HTTPAdapter

from citations.documents import storage
from citations.documents.storage import AddedDocument
from citations.errors import DocumentTooLarge, WebPageRefused, WebPageUnreachable
from citations.formats import BY_SUFFIX, FORMATS
from transcripts.core.errors import InvalidInput, InvalidUrl
from transcripts.models import Job
from transcripts.text.timecodes import parse_web_page
from transcripts.youtube.guard import NotPublic, connect_publicly, loopback_from_environment

TIMEOUT: Final = 20.0  # seconds for a connection, and for each piece of an answer
PATIENCE: Final = 120.0  # seconds for everything
FILE_PATIENCE: Final = 3_600.0  # the same for audio and video
MAX_REDIRECTS: Final = 10
_PIECE: Final = 65_536
_HEADERS: Final = {
    "User-Agent": "Mozilla/5.0 (compatible; Cuebase)",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
}
_GONE: Final = (404, 410)
_TRY_AGAIN: Final = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """What an address gave: the last one of its redirects, a file name, and the bytes."""

    url: str
    name: str
    data: bytes


def store(job: Job, page: FetchedPage) -> AddedDocument:
    """Store the page of a job that is held. Raises ``WebPageRefused``, and as ``storage.add``."""
    job.report(step="storing", done=1, total=2)
    file = BytesIO(page.data)
    if not storage.is_document(file, page.name):
        raise WebPageRefused(
            f"{_site(page.url)} gives captions there, and no page.",
            hint="Download the file, and add that.",
        )
    return storage.add(
        job.collection,
        file,
        name=page.name,
        url=page.url,
        tags=job.tags,
        language=job.language,
        by=job.created_by,
    )


def fetch(address: str) -> FetchedPage:
    """Fetch a page, or another document, from a public address.

    Raises ``WebPageUnreachable`` where another try may help, ``WebPageRefused``,
    ``DocumentTooLarge`` and ``InvalidUrl``, also for where a redirect leads.
    """
    deadline = time.monotonic() + PATIENCE
    with _answered(address) as (answer, url):
        pieces = _pieces(answer, deadline, url, most=settings.MAX_DOCUMENT_BYTES)
        data, kind = b"".join(pieces), answer.headers.get("Content-Type", "")
        return FetchedPage(url=url, name=_name(url, kind), data=_in_its_encoding(data, kind))


def download(address: str, file: IO[bytes], *, most: int) -> str:
    """Write what a public address gives into a file, at most so many bytes; return its name.

    Raises as ``fetch``.
    """
    deadline = time.monotonic() + FILE_PATIENCE
    with _answered(address) as (answer, url):
        file.writelines(_pieces(answer, deadline, url, most=most))
        return PurePosixPath(unquote(urlsplit(url).path)).name or "sound"


@contextmanager
def _answered(address: str) -> Iterator[tuple[requests.Response, str]]:
    """Give the answer to which redirects lead, and its address."""
    with closing(loopback_from_environment() or connect_publicly(HTTPAdapter())) as adapter:
        for _redirect in range(MAX_REDIRECTS + 1):
            address = parse_web_page(address)
            with closing(_ask(adapter, address)) as answer:
                if answer.is_redirect:
                    address = _joined(address, answer.headers["Location"])
                    continue
                _check_status(answer.status_code, address)
                yield answer, address
                return
    raise WebPageRefused(f"{_site(address)} leads from one address to another without end.")


def _ask(adapter: BaseAdapter, address: str) -> requests.Response:
    """Send a request by itself: a session would read all of what comes with a redirect."""
    request = requests.Request("GET", address, headers=_HEADERS).prepare()
    try:
        return adapter.send(request, stream=True, timeout=TIMEOUT, proxies=getproxies())
    except requests.exceptions.SSLError:
        raise WebPageRefused(
            f"{_site(address)} cannot prove that it is what its name says (its certificate is not"
            " valid)."
        ) from None
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        if isinstance(getattr(next(iter(error.args), None), "reason", None), NotPublic):
            raise WebPageRefused(
                f"{_site(address)} leads to no public address; nothing was sent."
            ) from None
        raise WebPageUnreachable(f"{_site(address)} cannot be reached.") from None


def _joined(address: str, target: str) -> str:
    """Return where a redirect leads; its bytes are UTF-8 on most sites, though not by the rule."""
    with suppress(UnicodeError):
        target = target.encode("latin-1").decode()
    try:
        return urljoin(address, target)
    except ValueError:
        raise InvalidUrl(f"{_site(address)} leads on to what is no address.") from None


def _check_status(status: int, address: str) -> None:
    if status in _GONE:
        raise WebPageRefused(
            f"{_site(address)} says that there is no such page ({status}).",
            hint="Check the address.",
        )
    if status in _TRY_AGAIN:
        raise WebPageUnreachable(f"{_site(address)} cannot answer now ({status}).")
    if status != 200:
        raise WebPageRefused(f"{_site(address)} does not give this page to everybody ({status}).")


def _pieces(
    answer: requests.Response, deadline: float, address: str, *, most: int
) -> Iterator[bytes]:
    size = 0
    try:
        # read() would wait for a whole block, however slowly it arrives.
        while piece := answer.raw.read1(_PIECE, decode_content=True):
            size += len(piece)
            if size > most:
                raise DocumentTooLarge(f"It has more than {most:,} bytes.")
            if time.monotonic() > deadline:
                raise WebPageUnreachable(f"{_site(address)} answers too slowly.")
            yield piece
    except (OSError, urllib3.exceptions.HTTPError):
        raise WebPageUnreachable(f"The answer of {_site(address)} broke off.") from None
    if not size:
        raise InvalidInput("It is empty.", hint="Check that it is the right page.")


def _name(address: str, kind: str) -> str:
    """Return a file name whose suffix says what the server calls the page, if it is a document."""
    parts = urlsplit(address)
    name = PurePosixPath(unquote(parts.path)).name or parts.hostname or "page"
    media_type = kind.partition(";")[0].strip().casefold()
    if PurePosixPath(name).suffix.casefold() in BY_SUFFIX and media_type != "text/html":
        return name
    format = FORMATS.get(media_type or "text/html")
    if format is None or name.casefold().endswith(format.suffixes):
        return name
    return name + format.suffixes[0]


def _in_its_encoding(data: bytes, kind: str) -> bytes:
    """Return a text so that its own bytes say the encoding that its server names, as browsers take
    it before any other.
    """
    media_type, _, parameters = kind.partition(";")
    label = parameters.casefold().partition("charset=")[2].partition(";")[0].strip(" \"'")
    encoding = webencodings.lookup(label) if label else None
    is_text = media_type.strip().casefold().startswith(("text/", "application/xhtml"))
    if encoding is None or not is_text:
        return data
    text: str = webencodings.decode(data, encoding)[0]
    return BOM_UTF8 + text.encode()


def _site(address: str) -> str:
    return f"“{(urlsplit(address).hostname or '')[:100]}”"
