"""The title, tags and language of an item of the library, corrected by a person."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Left

from citations.ingest.selection import ChosenItems, record, select
from citations.library.item import TABLES
from citations.models import Answer, Chunk, Citation, Highlight, LectureSession, SharedLink, Source
from citations.providers.languages import is_known
from citations.quotes.anchoring import AROUND
from citations.reading.spoken_text import SpokenText
from citations.text.speakers import LABEL
from transcripts import captions
from transcripts.adding import transcript_rows
from transcripts.adding.storage import MAX_TAGS, clean_tags
from transcripts.captions.speech import name_of
from transcripts.core import languages
from transcripts.core.errors import InvalidInput
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.models import CaptionOrigin, Transcript, Video
from transcripts.text.cues import renaming

MAX_TITLE: Final = 300  # characters
BEGINNING: Final = 160  # characters
MAX_TAG: Final = 100

_MAX_SHOWN: Final = 100  # characters of a name in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDetails:
    """What can be edited of an item; None where it has no such field, or YouTube fills it."""

    title: str
    tags: str | None = None  # with commas between them
    language: str | None = None


def find(scope: Scope, reference: str) -> Any:
    """Return the row of an item such as ``video-12``. Raises ``NotFound`` and ``Forbidden``."""
    chosen = select(scope, [reference])
    return (*chosen.videos, *chosen.documents, *chosen.lectures)[0]


def details_of(row: Any) -> ItemDetails:
    """Return what a person may edit of an item."""
    if isinstance(row, Video):
        transcript = _own_transcript(row)
        language = transcript.language if transcript else None
    else:
        language = row.language
    tags = None if isinstance(row, LectureSession) else ", ".join(row.tags)
    return ItemDetails(title=str(row), tags=tags, language=language)


def edit(row: Any, details: ItemDetails) -> list[Source]:
    """Change an item; return the sources whose index is made again, to be sent to the workers.

    A part that is None, or that the item does not have, stays. Raises ``InvalidInput``.
    """
    changes = _changes(row, details)
    if not changes:
        return []
    with transaction.atomic():
        if isinstance(row, LectureSession):
            return _save(row, changes)
        record(row, *changes)
        row.edited = sorted({*row.edited, *changes})
        if isinstance(row, Video):
            language = changes.pop("language", None)
            _save(row, {**changes, "edited": row.edited, "updated_at": None})
            return [] if language is None else _correct(row, language)
        row.change(**changes, edited=row.edited)
        if "language" not in changes:
            return []
        row.start_anew()
        return [row]


def rename(chosen: ChosenItems, titles: Mapping[str, str]) -> int:
    """Give items, by reference such as ``video-12``, new titles; return how many changed.

    All or none are renamed. Raises ``InvalidInput`` for a title that is empty or too long, with
    the reference of its item as the field of its complaint.
    """
    count = 0
    with transaction.atomic():
        for reference, row in by_reference(chosen).items():
            before = str(row)
            try:
                edit(row, ItemDetails(title=titles.get(reference, before)))
            except InvalidInput as error:
                error.complaints = ((reference, error.message),)
                raise
            count += str(row) != before
    return count


def set_language(chosen: ChosenItems, language: str) -> tuple[int, list[Source]]:
    """Give items a language; return how many have it now, and the sources to be indexed again.

    Recordings of YouTube keep what is said there. All or none are changed. Raises ``InvalidInput``
    for an unknown language, or none.
    """
    if not language.strip():
        raise InvalidInput(
            "No language is named.",
            hint="Choose one from the list, or write its code, such as de or pt-BR.",
        )
    rows = by_reference(chosen).values()
    editable = [row for row in rows if details_of(row).language is not None]
    with transaction.atomic():
        sources = [
            source
            for row in editable
            for source in edit(row, ItemDetails(title=str(row), language=language))
        ]
    return len(editable), sources


def by_reference(chosen: ChosenItems) -> dict[str, Any]:
    """Return the rows of chosen items by their references."""
    rows = (*chosen.videos, *chosen.documents, *chosen.lectures)
    return {f"{TABLES[type(row)]}-{row.pk}": row for row in rows}


def first_words(rows: Mapping[str, Any]) -> dict[str, str]:
    """Return the first ``BEGINNING`` characters of the texts of items that are indexed, by their
    references.
    """
    keys = {(type(row), row.pk): reference for reference, row in rows.items()}
    videos = [pk for kind, pk in keys if kind is Video]
    documents = [pk for kind, pk in keys if kind is Source]
    chunks = Chunk.objects.filter(
        Q(source__video__in=videos) | Q(source__in=documents), ordinal=0
    ).values_list("source__video", "source", Left("text", BEGINNING))
    beginnings = {
        keys[(Video, video) if video else (Source, source)]: text
        for video, source, text in chunks.order_by("-source")  # the oldest track counts
    }
    return {reference: " ".join(text.split()) for reference, text in beginnings.items()}


def _changes(row: Any, details: ItemDetails) -> dict[str, Any]:
    current = details_of(row)
    changes: dict[str, Any] = {}
    if details.title != current.title:
        title = " ".join(clean(details.title, MAX_TITLE + 1).split())
        if not title:
            raise InvalidInput("The title is empty.", hint="Write one.")
        if len(title) > MAX_TITLE:
            raise InvalidInput(f"A title has at most {MAX_TITLE} characters.", hint="Shorten it.")
        changes["title"] = title
    if current.tags is not None and details.tags not in (None, current.tags):
        changes["tags"] = _tags(details.tags or "")
    own = current.language
    if own is not None and details.language not in (None, own, languages.name_of(own)):
        tag = languages.parse(details.language or "")
        if tag.lower() != own.lower():
            if tag and not is_known(tag):
                raise languages.unknown(tag)
            changes["language"] = tag
    return changes


def _tags(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if max(map(len, parts)) > MAX_TAG:
        raise InvalidInput(f"A tag has at most {MAX_TAG} characters.", hint="Shorten it.")
    if len({*filter(None, parts)}) > MAX_TAGS:
        raise InvalidInput(f"An item has at most {MAX_TAGS} tags.", hint="Leave some out.")
    return clean_tags(parts)


def _own_transcript(video: Video) -> Transcript | None:
    """Return the only transcript of a file: YouTube names the languages of its own.

    A file may name its video on YouTube: its captions are none that were fetched from there.
    """
    rows = video.transcripts.light()
    if video.youtube_id:
        rows = rows.filter(origin=CaptionOrigin.UPLOAD)
    transcripts = list(rows[:2])
    return transcripts[0] if len(transcripts) == 1 else None


def _save(row: Any, changes: dict[str, Any]) -> list[Source]:
    for name, value in changes.items():
        if name != "updated_at":  # which sets itself
            setattr(row, name, value)
    row.save(update_fields=[*changes])
    return []


def _correct(video: Video, language: str) -> list[Source]:
    transcript = _own_transcript(video)
    if transcript is None:
        return []
    transcript_rows.correct_language(transcript, language)
    sources = list(Source.objects.filter(transcript=transcript))
    for source in sources:
        source.change(language=language)
        source.start_anew()
    return sources


def rename_speaker(transcript: Transcript, speaker: str, name: str) -> tuple[str, list[Source]]:
    """Give a speaker of a transcript another name, which no other speaker there may have.

    Returns the name as it is written, and the sources whose index is made again, to be sent to the
    workers. Raises ``InvalidInput``.
    """
    label = _checked(name)
    with transaction.atomic():
        transcript_rows.lock(transcript)
        speakers = SpokenText(captions.from_json(transcript.cues)).turns.names
        if speaker not in speakers:
            shown = clean(speaker, _MAX_SHOWN)
            raise InvalidInput(f"Nobody is called “{shown}” in this transcript.")
        if label == speaker:
            return label, []
        if label in speakers:
            raise InvalidInput(
                f"Somebody else is called “{label}” in this transcript.",
                hint="Choose another name, so that the speakers stay distinct.",
            )
        transcript_rows.rename_speaker(transcript, speaker, label)
        record(transcript.video, "speakers")
        sources = list(Source.objects.filter(transcript=transcript))
        for source in sources:
            source.start_anew()
            _rename_in_quotes(source, speaker, label)
    return label, sources


def _rename_in_quotes(source: Source, speaker: str, label: str) -> None:
    """Let quotes name the speaker as their source does: else they would not stand in it."""
    change = renaming({speaker: label})
    for model in (Citation, Highlight, SharedLink):
        quotes: QuerySet[Any] = model._default_manager.filter(source=source)
        changed = []
        for row in quotes:
            texts = (row.prefix, row.quote, row.suffix)
            prefix, row.quote, suffix = map(change, texts)
            row.prefix, row.suffix = prefix[-AROUND:], suffix[:AROUND]
            if (row.prefix, row.quote, row.suffix) != texts:
                changed.append(row)
        quotes.bulk_update(changed, ["prefix", "quote", "suffix"], batch_size=500)
    for rows in (Citation.objects, Highlight.objects):
        rows.filter(source=source, speaker=speaker).update(speaker=label)
    for answer in Answer.objects.filter(citations__source=source).distinct():
        numbers = set(answer.citations.filter(source=source).values_list("number", flat=True))
        for claim in answer.claims:
            if not numbers.isdisjoint(claim["citations"]):
                claim["text"] = change(claim["text"])
        answer.save(update_fields=["claims"])


def _checked(name: str) -> str:
    written = clean(name, _MAX_SHOWN)
    label = name_of(written)
    if not label:
        raise InvalidInput("The name is empty.", hint="Write one.")
    match = LABEL.match(f"{label}: ")
    if match is None or match.end() <= len(label) or not written[:1].isalpha():
        raise InvalidInput(
            f"“{label}” cannot stand before what somebody says.",
            hint="Write a name of at most four words that begins with a letter.",
        )
    return label
