"""The names of who speaks in a recording, given by a person: “Speaker 0” is Ada Lovelace."""

from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet

from citations.ingest.selection import record
from citations.models import Answer, Citation, Highlight, SharedLink, Source
from citations.quotes.anchoring import AROUND
from citations.reading.spoken_text import SpokenText
from citations.text.speakers import LABEL
from transcripts import captions
from transcripts.adding import transcript_rows
from transcripts.captions.speech import name_of
from transcripts.core.errors import InvalidInput
from transcripts.core.sanitize import clean
from transcripts.models import Transcript
from transcripts.text.cues import renaming

_MAX_SHOWN: Final = 100  # characters of a name in a message


def rename(transcript: Transcript, speaker: str, name: str) -> tuple[str, list[Source]]:
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
