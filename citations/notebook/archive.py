"""Everything that a user may read in one ZIP, which needs no Cuebase to be read."""

import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import IO, Any, Final
from urllib.parse import quote

from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from citations.models import Citation, Conversation, DocumentPart, Note, Page, Source
from citations.notebook import archive_pages, export, highlights, obsidian, web_annotations
from citations.notebook.archive_pages import ArchiveFolders, page_path
from citations.notebook.export import ExportFormat
from citations.notebook.highlights import HighlightFilter
from citations.notebook.obsidian import front_matter
from citations.reading.places import page_place
from citations.text.markdown import escape_markdown
from transcripts.core.alphabet import alphabetical
from transcripts.core.player import Player
from transcripts.core.scope import Scope
from transcripts.media import files as media
from transcripts.models import Collection, MediaFile, Video

_SUFFIX: Final = re.compile(r"\.[a-zA-Z0-9]{1,8}")
BATCH: Final = 50  # rows that are read at once
Progress = Callable[[int, int], None]  # done, of how many


def write(
    scope: Scope,
    user: User | None,
    file: IO[bytes],
    *,
    collection: Collection | None = None,
    only: Sequence[int] = (),
    with_media: bool = False,
    progress: Progress = lambda done, total: None,
) -> None:
    """Write the ZIP to a file that need not be seekable; one source at a time is in memory.

    Of the sources whose keys are ``only`` (empty: all), it has the texts and documents, the
    highlights and the notes that quote them, and ``with_media`` the audio and video files.
    """
    if collection is not None:
        scope = Scope(readable=scope.readable & {collection.pk})
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = _Contents(
            scope, user, collection, archive, progress, only, with_media=with_media
        )
        contents.write()


class _Contents:
    """What an archive contains."""

    def __init__(
        self,
        scope: Scope,
        user: User | None,
        collection: Collection | None,
        archive: zipfile.ZipFile,
        progress: Progress,
        only: Sequence[int],
        *,
        with_media: bool,
    ) -> None:
        self.scope, self.user, self.collection = scope, user, collection
        self.folders, self.progress = ArchiveFolders(archive), progress
        self.with_media = with_media
        self.media: dict[int, str] = {}  # of videos: the paths of their files
        self.players: dict[str, MediaFile] = {}  # of those files, by the pages of their sources
        self.pages: dict[int, str] = {}  # of sources
        self.sources = Source.objects.visible(scope).select_related(
            "collection", "video__media", "transcript__video", "document"
        )
        self.notes = Note.objects.visible(scope).select_related("collection", "author")
        own = Conversation.objects.of(scope, user).select_related("collection")
        self.conversations = own.filter(collection=collection) if collection else own
        self.highlights = highlights.matching(scope, user, HighlightFilter())
        if only:
            self.sources = self.sources.filter(pk__in=only)
            self.highlights = self.highlights.filter(source__in=only)
            quoting = Citation.objects.visible(scope).filter(source__in=only)
            self.notes = self.notes.filter(answer__in=quoting.in_answers().values("answer"))
            self.conversations = own.none()
        self.total = sum(q.count() for q in (self.sources, self.notes, self.conversations))
        self.done = 0

    def write(self) -> None:
        self.progress(0, self.total)
        sources = self.sources.defer("document__outline").order_by(alphabetical("title"), "pk")
        self.write_rows("sources.json", map(self.write_source, sources.iterator(chunk_size=1)))
        self.write_highlights()
        notes = self.notes.order_by("pk")
        self.write_rows("notes.json", map(self.write_note, notes.iterator(chunk_size=BATCH)))
        conversations = self.conversations.order_by("pk")
        self.write_rows(
            "questions.json", map(self.write_conversation, conversations.iterator(chunk_size=BATCH))
        )
        title = self.collection.title if self.collection else _("Library")
        self.folders.write_index(title, player=self.player)

    def write_rows(self, path: str, rows: Iterable[dict[str, Any]]) -> None:
        """Write rows, and tell of each."""
        self.folders.write_json(path, map(self.count, rows))

    def count(self, row: dict[str, Any]) -> dict[str, Any]:
        self.done += 1
        self.progress(self.done, max(self.total, self.done))
        return row

    def write_source(self, source: Source) -> dict[str, Any]:
        played = self.write_media(source.video)
        original = self.write_original(source)
        name = escape_markdown(PurePath(original).name)
        parts = [
            front_matter(source, tags=source.tags),
            *([f"[{name}](../{quote(original)})\n"] if original else []),
            *source_text(source, file=played and f"../{quote(played)}"),
        ]
        page = archive_pages.of_source(
            source, file=f"../{played}" if played else "", original=original
        )
        path = self.folders.write_text(
            "Sources",
            source.title,
            parts,
            page=page,
            language=source.language,
            collection=source.collection.title,
        )
        self.pages[source.pk] = page_path(path)
        if played and source.video:
            self.players[page_path(path)] = source.video.media
        return {
            "id": str(source.uuid),
            "kind": source.kind,
            "title": source.title,
            "author": source.author,
            "url": source.url,
            "language": source.language,
            "collection": source.collection.slug,
            "tags": source.tags,
            "published_at": source.published_at.isoformat() if source.published_at else None,
            "file": path,
            "media": played,
            "original": original,
        }

    def write_original(self, source: Source) -> str:
        """Write a document as it was added, and return its path; empty for a recording.

        Its text alone lacks pictures, tables and headings.
        """
        parts = DocumentPart.objects.filter(document=source.pk).order_by("ordinal")
        if source.transcript_id is not None or not parts.exists():
            return ""
        name = PurePath(source.document.name)
        is_usual = _SUFFIX.fullmatch(name.suffix)
        own = self.folders.name("Originals", name.stem if is_usual else name.name)
        path = f"originals/{own}{name.suffix.lower() if is_usual else ''}"
        with self.folders.open(path) as file:
            file.writelines(parts.values_list("data", flat=True).iterator(chunk_size=1))
        return path

    def write_media(self, video: Video | None) -> str:
        """Write the file of a recording, once, and return its path; empty without one."""
        if not self.with_media or video is None or video.player != Player.FILE:
            return ""
        if video.pk not in self.media:
            name = self.folders.name("Media", str(video))
            path = f"media/{name}{PurePath(video.media.name).suffix.lower()}"
            with self.folders.open(path, zipfile.ZIP_STORED) as file:  # it is compressed as it is
                file.writelines(media.pieces(video.media))
            self.media[video.pk] = path
        return self.media[video.pk]

    def write_highlights(self) -> None:
        rows = self.highlights.order_by("source_id", "span_start", "pk")
        placed = highlights.place(rows.iterator(chunk_size=BATCH))
        for source, members in groupby(placed, key=lambda highlight: highlight.row.source):
            kept, page = [*members], self.pages.get(source.pk)
            self.folders.write_text(
                "Highlights",
                source.title,
                [obsidian.of_source(source, kept)],
                page=archive_pages.of_highlights(source, kept),
                links={_("Source"): f"../{page}"} if page else {},
                collection=source.collection.title,
            )
        with self.folders.open("highlights.jsonld") as file:
            web_annotations.write(highlights.place(rows.iterator(chunk_size=BATCH)), file)

    def write_note(self, note: Note) -> dict[str, Any]:
        parts = [f"# {escape_markdown(note.title)}\n", note.text]
        path = self.folders.write_text("Notes", note.title, parts, collection=note.collection.title)
        return {
            "id": str(note.uuid),
            "title": note.title,
            "text": note.text,
            "author": note.author.get_username() if note.author else "",
            "collection": note.collection.slug,
            "created_at": note.created_at.isoformat(),
            "updated_at": note.updated_at.isoformat(),
            "file": path,
        }

    def write_conversation(self, conversation: Conversation) -> dict[str, Any]:
        text = export.render(self.scope, self.user, conversation, ExportFormat.MARKDOWN)
        title, collection = conversation.title, conversation.collection
        path = self.folders.write_text(
            "Questions", title, [text], collection=collection.title if collection else ""
        )
        whole = export.render(self.scope, self.user, conversation, ExportFormat.JSON)
        return {**json.loads(whole), "file": path}

    def player(self, path: str) -> SafeString:
        """Return the player of a source's page; nothing for others."""
        if path not in self.players:
            return SafeString()
        file = self.players[path]
        source = self.media[file.video_id or 0]
        return format_html("<br>{}", archive_pages.player(source, is_audio=file.is_audio))


def source_text(source: Source, *, file: str = "") -> Iterator[str]:
    """Yield the text of a source as Markdown: sections with times, linked to ``file``; or pages."""
    if source.transcript and source.video:
        yield archive_pages.of_recording(source.video, source.transcript, file=file)
        return
    yield f"# {escape_markdown(source.title)}\n"
    pages = Page.objects.filter(document__source=source).order_by("number")
    for page in pages.iterator(chunk_size=BATCH):
        yield f"## {capfirst(page_place(page.number, source))}\n\n{page.text}\n"
