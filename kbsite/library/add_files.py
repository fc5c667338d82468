"""Find captions, documents and media among files and folders, and store them in the library."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from django.db import transaction

from citations.documents import storage as document_storage
from citations.documents.storage import AddedDocument
from citations.listening import uploads
from citations.readers import recognition
from kbsite.library import TaskProgress
from transcripts import conf
from transcripts.adding import files, storage
from transcripts.adding.storage import StoredTranscript
from transcripts.captions.caption_errors import CaptionError
from transcripts.core.errors import InvalidInput, KnowledgeBaseError
from transcripts.media import files as media
from transcripts.models import Collection, Job, Video
from transcripts.schemas import JobProblem

BATCH_SIZE = 25  # files of one transaction, because each commit waits for the disk


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file, its name as stored, and whether it stands on the command line or was in a folder.

    Captions may have yt-dlp's metadata beside them (``info``), and ``alternatives``: the same
    recording in other formats, best first, for when this one is not readable.
    """

    path: Path
    name: str
    named: bool = False
    info: Path | None = None
    alternatives: "tuple[FoundFile, ...]" = ()


@dataclass(slots=True)
class FilesToAdd:
    """The files to import, the number of other files, and the unreadable folders."""

    captions: list[FoundFile] = field(default_factory=list)
    documents: list[FoundFile] = field(default_factory=list)
    media: list[FoundFile] = field(default_factory=list)
    skipped: int = 0
    problems: list[JobProblem] = field(default_factory=list)


class SidecarMetadata(NamedTuple):
    """Given metadata, which takes precedence over a file's own."""

    tags: Sequence[str]
    language: str
    title: str


S = TypeVar("S")
Result = tuple[FoundFile, StoredTranscript | AddedDocument | Video | Job | KnowledgeBaseError]


def is_file_name(name: str) -> bool:
    """Say whether a file of this name may be captions or a document."""
    return files.is_candidate(name) or recognition.may_be_document(name)


def gather(paths: Sequence[Path]) -> FilesToAdd:
    """Find the caption files, one for each recording and language, and the documents.

    A text without timestamps is a document. Hidden files and cyclic links are left out.
    """
    gathered = FilesToAdd()
    for path in paths:
        if path.is_dir():
            _gather_folder(path, gathered)
    _gather_named([path for path in paths if not path.is_dir()], gathered)
    return gathered


def store(
    collection: Collection,
    gathered: FilesToAdd,
    metadata: SidecarMetadata,
    progress: TaskProgress,
    *,
    by_ocr: bool = False,
    listens: bool = False,
) -> Iterator[Result]:
    """Store captions, documents, unread, and media beside recordings of the same names.

    Documents are read ``by_ocr`` where they have no text; if it ``listens``, media without a
    recording get a job. Yields the result for each file.
    """
    written: set[int] = set()
    captions = _tracked(gathered.captions, progress)
    while batch := list(itertools.islice(captions, BATCH_SIZE)):
        with transaction.atomic():
            results = [(file, _store_best(collection, file, metadata, written)) for file in batch]
        yield from results
    for file in _tracked(gathered.documents, progress):
        about = {"name": file.name, "by_ocr": by_ocr, **metadata._asdict()}
        yield file, _stored(document_storage.add, collection, file, **about)
    for file in _tracked(gathered.media, progress):
        how: dict[str, Any] = {"listens": listens, "language": metadata.language}
        how |= {"name": _stored_name(file.path.name), "tags": metadata.tags}
        yield file, _stored(uploads.add, collection, file, **how)


def _stored(
    add: Callable[..., S], collection: Collection, file: FoundFile, **about: Any
) -> S | KnowledgeBaseError:
    try:
        with _opened(file.path) as stream:
            return add(collection, stream, **about)
    except KnowledgeBaseError as error:
        return error


def _tracked(files: Sequence[FoundFile], progress: TaskProgress) -> Iterator[FoundFile]:
    for done, file in enumerate(files):
        progress.show("Importing", done, len(files))
        yield file


def _store_best(
    collection: Collection, file: FoundFile, metadata: SidecarMetadata, written: set[int]
) -> StoredTranscript | KnowledgeBaseError:
    result = _store(collection, file, metadata, written)
    if not isinstance(result, CaptionError):
        return result
    others = (_store(collection, other, metadata, written) for other in file.alternatives)
    return next((other for other in others if isinstance(other, StoredTranscript)), result)


def _store(
    collection: Collection, file: FoundFile, metadata: SidecarMetadata, written: set[int]
) -> StoredTranscript | KnowledgeBaseError:
    try:
        info = _read(file.info) if file.info else None
        stored = storage.add_captions(
            collection,
            _read(file.path),
            name=file.name,
            info=info,
            settled=written,
            **metadata._asdict(),
        )
    except KnowledgeBaseError as error:
        return error
    written.add(stored.transcript.pk)
    return stored


def _read(path: Path) -> bytes:
    with _opened(path) as stream:
        return stream.read(conf.max_upload_bytes() + 1)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file. Raises ``InvalidInput`` if there is none, or reading fails."""
    name = _stored_name(path.name)
    try:
        if not path.is_file():
            raise InvalidInput(f"“{name}” is not a regular file.")
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        text = f"“{name}” cannot be read: {error.strerror}."
        raise InvalidInput(text, hint="Check the file's permissions.") from error


def _gather_folder(folder: Path, gathered: FilesToAdd) -> None:
    names = list(_files_under(folder, gathered))
    chosen = files.select(names)
    used = {name for file in chosen for name in (file.name, file.info_name, *file.instead)}
    documents = {
        *(name for name in names if name not in used and recognition.may_be_document(name)),
        *(file.name for file in chosen if _is_document(folder / file.name)),
    }
    gathered.documents += (
        FoundFile(path=folder / name, name=_stored_name(name)) for name in sorted(documents)
    )
    playable = [name for name in names if name not in used | documents and _is_media(folder / name)]
    gathered.media += (FoundFile(folder / name, _stored_name(name)) for name in sorted(playable))
    captions = {name for file in chosen for name in (file.name, file.info_name)} - {""}
    readable = captions | documents | {*playable}
    gathered.skipped += len(names) - len(readable)
    for file in chosen:
        if file.name not in documents:
            info = folder / file.info_name if file.info_name else None
            best, *others = (
                FoundFile(path=folder / name, name=_stored_name(name), info=info)
                for name in (file.name, *file.instead)
            )
            gathered.captions.append(replace(best, alternatives=tuple(others)))


def _files_under(folder: Path, gathered: FilesToAdd) -> Iterator[str]:
    def record(error: OSError) -> None:
        problem = InvalidInput(f"This folder cannot be read: {error.strerror}.")
        gathered.problems.append(JobProblem.of(str(error.filename), problem))

    visited: set[tuple[int, int]] = set()
    for root, folders, names in os.walk(folder, followlinks=True, onerror=record):
        state = Path(root).stat()
        if (state.st_dev, state.st_ino) in visited:  # a link that leads back up
            folders.clear()
            continue
        visited.add((state.st_dev, state.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield str((Path(root) / name).relative_to(folder))


def _gather_named(paths: Sequence[Path], gathered: FilesToAdd) -> None:
    chosen = {Path(file.name): file for file in files.select(str(path) for path in paths)}
    used_infos = {Path(file.info_name) for file in chosen.values() if file.info_name}
    for path in dict.fromkeys(paths):
        if path not in chosen and files.is_candidate(path.name):
            gathered.skipped += path not in used_infos
        elif _is_media(path):
            gathered.media.append(FoundFile(path, _stored_name(path.name), named=True))
        elif _is_document(path):
            gathered.documents.append(FoundFile(path, _stored_name(path.name), named=True))
        else:
            others = chosen[path].instead if path in chosen else ()
            alternatives = tuple(_named_file(Path(name)) for name in others)
            gathered.captions.append(_named_file(path, alternatives))


def _named_file(path: Path, alternatives: tuple[FoundFile, ...] = ()) -> FoundFile:
    return FoundFile(path, _stored_name(path.name), True, _info_beside(path), alternatives)


def _is_document(path: Path) -> bool:
    """Say whether a file's content is a document; reading reports an unreadable one later."""
    try:
        with _opened(path) as stream:
            return document_storage.is_document(stream, path.name)
    except InvalidInput:
        return False


def _is_media(path: Path) -> bool:
    try:
        with _opened(path) as stream:
            return media.is_media(stream)
    except InvalidInput:
        return False


def _info_beside(path: Path) -> Path | None:
    stem = path
    while stem.suffix:
        stem = stem.with_suffix("")
        candidate = stem.with_name(f"{stem.name}{files.INFO_SUFFIX}")
        if candidate.is_file():
            return candidate
    return None


def _stored_name(name: str) -> str:
    # A file's name may be any bytes; the stored name is text.
    return os.fsencode(name).decode(errors="replace").replace("\0", "")
