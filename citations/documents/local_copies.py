"""Copies of documents on the local disk, which readers open; those used least recently go."""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from django.conf import settings

from citations.errors import DocumentBroken
from citations.models import Document, DocumentPart
from citations.readers.pictures.reader import to_pdf
from transcripts.core.work.disk import make_private_folder

KEPT_BYTES: Final = 2_000_000_000
KEPT_SECONDS: Final = 3_600  # that a file is kept at least after its last use


def path_of(document: Document) -> Path:
    """Return a copy of the file, a PDF of a picture, kept for at least an hour. Do not change it.

    Raises ``DocumentBroken``, and what ``pictures.reader.to_pdf`` raises.
    """
    path = _folder() / document.digest
    _keep(path, lambda file: _write(document, file), size=document.size)
    if not document.format.is_picture:
        return path
    pdf = path.with_suffix(".pdf")
    _keep(pdf, lambda file: to_pdf(path, Path(file.name), most_pages=settings.MAX_DOCUMENT_PAGES))
    return pdf


def _keep(path: Path, write: Callable[[IO[bytes]], object], size: int | None = None) -> None:
    """Write a file unless it is there, with its size if that is known."""
    with suppress(FileNotFoundError):
        if size in (None, path.stat().st_size):
            os.utime(path)
            return
    prune()
    make_private_folder(path.parent)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as temporary:
        try:
            write(temporary)
            Path(temporary.name).replace(path)
        except BaseException:
            Path(temporary.name).unlink(missing_ok=True)
            raise


def prune() -> None:
    """Delete the copies of deleted documents, and the least recently used of a full cache."""
    with suppress(FileNotFoundError):
        files = [(path.stat().st_mtime, path.stat().st_size, path) for path in _folder().iterdir()]
        names = [path.stem for *_, path in files]
        digests = set(Document.objects.filter(digest__in=names).values_list("digest", flat=True))
        total, now = 0, time.time()
        for used_at, size, path in sorted(files, reverse=True):
            total += size
            is_old = now - used_at > KEPT_SECONDS
            is_unknown = path.stem not in digests and (is_old or not path.name.startswith("."))
            if is_unknown or (is_old and total > KEPT_BYTES):
                path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "cache" / "documents"


def _write(document: Document, file: IO[bytes]) -> None:
    digest = hashlib.sha256()
    for data in (
        DocumentPart.objects.filter(document=document)
        .order_by("ordinal")
        .values_list("data", flat=True)
        .iterator(chunk_size=4)
    ):
        digest.update(data)
        file.write(data)
    file.flush()
    if digest.hexdigest() != document.digest:
        raise DocumentBroken(
            f"The bytes of “{document.name}” are not all there.",
            hint="Delete it and add the file again.",
        )
