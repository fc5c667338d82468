"""Archives: asked for, made by a worker, and kept for a day."""

from collections.abc import AsyncIterator, Iterable
from io import RawIOBase
from time import monotonic
from typing import IO, Any, Final, cast
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import translation
from django.utils.translation import get_language

from citations.errors import ArchiveNotFound
from citations.models import Archive, ArchivePart, ArchiveState, Source
from citations.notebook import archive as archive_file
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Conflict
from transcripts.core.locks import release_connection
from transcripts.core.sanitize import uuid_of
from transcripts.core.scope import Scope
from transcripts.library import reading as library

PART: Final = 1 << 20  # bytes
RECORD_EVERY: Final = 1.0  # seconds between two records of the progress


def request(
    scope: Scope,
    user: User,
    *,
    collection: str = "",
    sources: Iterable[Source] = (),
    with_media: bool = False,
) -> Archive:
    """Ask for an archive of a collection ("": all), or of ``sources`` with what was made of them,
    and ``with_media`` their audio and video files; return the unfinished one if there is one.

    Its pages speak the active language. Earlier ones of the user are deleted.

    Raises ``CollectionNotFound``, and ``Conflict`` while one of other sources is unfinished.
    """
    keys = sorted(source.pk for source in sources)
    target = library.find_collection(scope, collection) if collection else None
    ids = sorted(scope.readable & {target.pk} if target else scope.readable)
    own = Archive.objects.filter(owner=user)
    if unfinished := own.unfinished().first():
        if unfinished.sources != keys:
            raise Conflict(
                "Another archive is being made for you.",
                hint="Wait until it is ready, and ask again.",
            )
        return unfinished
    own.delete()
    audit.record(Action.EXPORT, "archive", collection=target)
    try:
        with transaction.atomic():
            return Archive.objects.create(
                owner=user,
                collection=target,
                collections=ids,
                sources=keys,
                with_media=with_media,
                language=get_language() or "",
            )
    except IntegrityError:  # two pages asked at once
        return own.get()


def latest(scope: Scope, user: User) -> Archive | None:
    """Return the user's last archive, if they may still read all that is in it."""
    archive = Archive.objects.filter(owner=user).first()
    return archive if archive and scope.readable.issuperset(archive.collections) else None


def find(scope: Scope, user: User, reference: UUID | str, *, ready: bool = False) -> Archive:
    """Return an archive of the user's. Raises ``ArchiveNotFound``."""
    archive = Archive.objects.filter(owner=user, uuid=uuid_of(reference)).first()
    is_visible = archive is not None and scope.readable.issuperset(archive.collections)
    if archive is None or not is_visible or (ready and archive.state != ArchiveState.DONE):
        raise ArchiveNotFound
    return archive


def delete(archive: Archive) -> None:
    Archive.objects.filter(pk=archive.pk).delete()


async def pieces(archive: Archive) -> AsyncIterator[bytes]:
    """Yield the file, without holding a connection while a slow client reads."""
    ordinal = 0
    while data := await sync_to_async(_piece)(archive, ordinal):
        yield data
        ordinal += 1


def _piece(archive: Archive, ordinal: int) -> bytes:
    try:
        row = ArchivePart.objects.filter(archive=archive.pk, ordinal=ordinal).first()
        return bytes(row.data) if row else b""
    finally:
        release_connection()


def make(archive: Archive) -> None:
    """Write the file, unless another process does. One that was killed begins again."""
    with archive.attempt(Archive.objects.unfinished()) as is_begun:
        if is_begun:
            archive.succeed(_write(archive))


def _write(archive: Archive) -> int:
    archive.parts.all().delete()
    scope = Scope(readable=frozenset(archive.collections))
    parts, recorded_at = _Parts(archive), 0.0

    def record(done: int, total: int) -> None:
        nonlocal recorded_at
        if monotonic() - recorded_at > RECORD_EVERY:
            recorded_at = monotonic()
            archive.change(done=done, total=total)

    file = cast("IO[bytes]", parts)
    with translation.override(archive.language or settings.LANGUAGE_CODE):
        archive_file.write(
            scope,
            archive.owner,
            file,
            collection=archive.collection,
            only=archive.sources,
            with_media=archive.with_media,
            progress=record,
        )
    parts.finish()
    return parts.size


class _Parts(RawIOBase):
    """A file that is written into the database, piece by piece."""

    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self.archive, self.size, self._count = archive, 0, 0
        self._buffer = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._buffer += data
        while len(self._buffer) >= PART:
            self._store(PART)
        return len(data)

    def finish(self) -> None:
        if self._buffer:
            self._store(len(self._buffer))

    def _store(self, length: int) -> None:
        data = bytes(self._buffer[:length])
        del self._buffer[:length]
        ArchivePart.objects.create(archive=self.archive, ordinal=self._count, data=data)
        self._count, self.size = self._count + 1, self.size + length
