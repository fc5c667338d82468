"""Files from this machine: which of those that were named, or lie in folders, are captions and which documents; and reading them into the library."""

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from django.db import transaction

from citations.documents import storage as document_storage
from citations.documents.storage import AddedDocument
from kbsite.cli.terminal import err
from transcripts import conf, files, storage
from transcripts.errors import CaptionError, InvalidInput, KnowledgeBaseError
from transcripts.models import Collection
from transcripts.storage import StoredTranscript

File = TypeVar("File")

AT_ONCE = 25  # files stored in one transaction: a commit waits for the disk, and thousands of files would wait thousands of times


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something that was not added, and why."""

    name: str
    code: str
    message: str
    hint: str

    @classmethod
    def of(cls, name: str, error: KnowledgeBaseError) -> "FileProblem":
        """Make it from an error."""
        return cls(name=name, code=error.code, message=error.message, hint=error.hint)

    def as_json(self) -> dict[str, str]:
        """Return it for programs."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CaptionFile:
    """A caption file, its name as stored, yt-dlp's metadata beside it, and whether the person named it (rather than its folder).

    ``instead`` are the same recording in other formats, best first, for when this one cannot be read.
    """

    path: Path
    name: str
    info: Path | None = None
    named: bool = False
    instead: "tuple[CaptionFile, ...]" = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """A document, its name as stored, and whether the person named it (rather than its folder)."""

    path: Path
    name: str
    named: bool = False


@dataclass(slots=True)
class FilesToAdd:
    """The files to import, how many others lie beside them, and folders that cannot be read."""

    found: list[CaptionFile] = field(default_factory=list)
    papers: list[Paper] = field(default_factory=list)
    skipped: int = 0
    problems: list[FileProblem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileResult:
    """What came of one file."""

    found: CaptionFile | Paper
    result: StoredTranscript | AddedDocument | KnowledgeBaseError


def is_file_name(name: str) -> bool:
    """Say whether a file of this name may be captions or a document."""
    return files.is_candidate(name) or document_storage.may_be_document(name)


def gather(paths: Sequence[Path]) -> FilesToAdd:
    """Find the caption files among files and folders, one for each recording and language, and the documents: what has no times is one.

    Hidden files and loops of links are left out.
    """
    gathered = FilesToAdd()
    for path in paths:
        if path.is_dir():
            _gather_folder(path, gathered)
    _gather_named([path for path in paths if not path.is_dir()], gathered)
    return gathered


def run(
    collection: Collection,
    gathered: FilesToAdd,
    *,
    tags: Sequence[str],
    language: str,
    title: str,
    quiet: bool,
) -> Iterator[FileResult]:
    """Import file after file, a bar showing how far it is; yields what came of each."""
    written: set[int] = set()
    with ExitStack() as stack:
        waiting: Iterable[CaptionFile] = gathered.found
        if not quiet and len(gathered.found) > 1:
            waiting = stack.enter_context(_Tracked(gathered.found))
        remaining = iter(waiting)
        while batch := list(itertools.islice(remaining, AT_ONCE)):
            with transaction.atomic():
                outcomes = [
                    FileResult(
                        found,
                        _store(
                            collection,
                            found,
                            tags=tags,
                            language=language,
                            title=title,
                            written=written,
                        ),
                    )
                    for found in batch
                ]
            yield from outcomes


def run_papers(
    collection: Collection,
    gathered: FilesToAdd,
    *,
    tags: Sequence[str],
    language: str,
    title: str,
    quiet: bool,
) -> Iterator[FileResult]:
    """Store document after document, a bar showing how far it is; yields what came of each. They are read later."""
    with ExitStack() as stack:
        waiting: Iterable[Paper] = gathered.papers
        if not quiet and len(gathered.papers) > 1:
            waiting = stack.enter_context(_Tracked(gathered.papers))
        for paper in waiting:
            yield FileResult(
                paper, _store_paper(collection, paper, tags=tags, language=language, title=title)
            )


def _store_paper(
    collection: Collection, paper: Paper, *, tags: Sequence[str], language: str, title: str
) -> AddedDocument | KnowledgeBaseError:
    try:
        if not paper.path.is_file():
            return _not_ordinary(paper.path)
        with paper.path.open("rb") as stream:
            return document_storage.add(
                collection, stream, name=paper.name, title=title, tags=tags, language=language
            )
    except KnowledgeBaseError as error:
        return error
    except OSError as error:
        return _unreadable(paper.path, error)


def _store(
    collection: Collection,
    found: CaptionFile,
    *,
    tags: Sequence[str],
    language: str,
    title: str,
    written: set[int],
) -> StoredTranscript | KnowledgeBaseError:
    result = _store_one(
        collection, found, tags=tags, language=language, title=title, written=written
    )
    if isinstance(result, CaptionError):
        others = (
            _store_one(collection, one, tags=tags, language=language, title=title, written=written)
            for one in found.instead
        )
        return next((other for other in others if isinstance(other, StoredTranscript)), result)
    return result


def _store_one(
    collection: Collection,
    found: CaptionFile,
    *,
    tags: Sequence[str],
    language: str,
    title: str,
    written: set[int],
) -> StoredTranscript | KnowledgeBaseError:
    try:
        info = _read(found.info) if found.info else None
        data = _read(found.path)
        stored = storage.add_captions(
            collection,
            data,
            name=found.name,
            info=info,
            language=language,
            tags=tags,
            title=title,
            settled=written,
        )
    except KnowledgeBaseError as error:
        return error
    written.add(stored.transcript.pk)
    return stored


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise _not_ordinary(path)
        with path.open("rb") as stream:
            return stream.read(conf.max_upload_bytes() + 1)
    except OSError as error:
        raise _unreadable(path, error) from error


def _not_ordinary(path: Path) -> InvalidInput:
    return InvalidInput(f"“{_stored_name(path.name)}” is not an ordinary file.")


def _unreadable(path: Path, error: OSError) -> InvalidInput:
    return InvalidInput(
        f"“{_stored_name(path.name)}” cannot be read: {error.strerror}.",
        hint="Check the rights to the file.",
    )


class _Tracked(Generic[File]):
    """Files, counted on a bar as they are taken."""

    def __init__(self, found: Sequence[File]) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._found = found
        columns = (
            TextColumn("Importing"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=err(), transient=True)

    def __enter__(self) -> Iterator[File]:
        self._progress.start()
        return iter(self._progress.track(self._found, total=len(self._found)))

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


# Finding


def _gather_folder(folder: Path, gathered: FilesToAdd) -> None:
    names = list(_files_under(folder, gathered))
    chosen = files.select(names)
    used = {name for one in chosen for name in (one.name, one.info_name, *one.instead)}
    others = [name for name in names if name not in used]
    papers = [name for name in others if document_storage.may_be_document(name)] + [
        one.name for one in chosen if _is_document(folder / one.name)
    ]
    gathered.papers += (
        Paper(path=folder / name, name=_stored_name(name)) for name in sorted(papers)
    )
    gathered.skipped += len(names) - len(
        {*papers} | {name for one in chosen for name in (one.name, one.info_name)} - {""}
    )
    for one in chosen:
        if one.name in papers:
            continue
        info = folder / one.info_name if one.info_name else None
        instead = tuple(
            CaptionFile(path=folder / name, name=_stored_name(name), info=info)
            for name in one.instead
        )
        gathered.found.append(
            CaptionFile(
                path=folder / one.name, name=_stored_name(one.name), info=info, instead=instead
            )
        )


def _files_under(folder: Path, gathered: FilesToAdd) -> Iterator[str]:
    def note(error: OSError) -> None:
        gathered.problems.append(
            FileProblem.of(
                str(error.filename), InvalidInput(f"This folder cannot be read: {error.strerror}.")
            )
        )

    seen: set[tuple[int, int]] = set()
    for root, folders, names in os.walk(folder, followlinks=True, onerror=note):
        state = Path(root).stat()
        if (state.st_dev, state.st_ino) in seen:  # a link that leads back up
            folders.clear()
            continue
        seen.add((state.st_dev, state.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (
            str((Path(root) / name).relative_to(folder))
            for name in sorted(names)
            if not name.startswith(".")
        )


def _gather_named(paths: Sequence[Path], gathered: FilesToAdd) -> None:
    chosen = {Path(one.name): one for one in files.select(str(path) for path in paths)}
    used_infos = {Path(one.info_name) for one in chosen.values() if one.info_name}
    for path in dict.fromkeys(paths):
        if (path in chosen or not files.is_candidate(path.name)) and _is_document(path):
            gathered.papers.append(Paper(path=path, name=_stored_name(path.name), named=True))
        elif path in chosen or not files.is_candidate(path.name):
            others = (Path(name) for name in chosen[path].instead) if path in chosen else ()
            gathered.found.append(_named(path, instead=tuple(_named(other) for other in others)))
        elif path not in used_infos:
            gathered.skipped += 1


def _named(path: Path, *, instead: tuple[CaptionFile, ...] = ()) -> CaptionFile:
    return CaptionFile(
        path=path,
        name=_stored_name(path.name),
        info=_info_beside(path),
        named=True,
        instead=instead,
    )


def _is_document(path: Path) -> bool:
    """Say whether a file is a document by its content; what cannot be read is told later."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            return document_storage.is_document(stream, path.name)
    except OSError:
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
    # A file's name need not be text; what is stored has to be.
    return os.fsencode(name).decode(errors="replace").replace("\0", "")
