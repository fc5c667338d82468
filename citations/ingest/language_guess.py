"""The language of captions whose file names none: guessed from what they say, where it is sure."""

from django.db import transaction

from citations.models import Source
from citations.providers import languages
from transcripts import captions, transcript_rows
from transcripts.models import CaptionOrigin, Transcript, Video


def name_language(transcript_id: int) -> bool:
    """Give a transcript without a language the one that its words are surely in; return whether.

    Its recording keeps it as if a person had said so: the same file, added again, names none
    either. Who said that it is unknown is believed.
    """
    transcript = Transcript.objects.filter(pk=transcript_id).select_related("video").first()
    if transcript is None or not _is_open(transcript):
        return False
    code = languages.guess(" ".join(cue.text for cue in captions.from_json(transcript.cues)))
    if not code:
        return False
    video = transcript.video
    with transaction.atomic():
        transcript_rows.correct_language(transcript, code)
        Source.objects.filter(transcript=transcript).update(language=code)
        Video.objects.filter(pk=video.pk).update(edited=sorted({*video.edited, "language"}))
    return True


def _is_open(transcript: Transcript) -> bool:
    """Whether nobody and nothing has named a language, and no other captions may have it."""
    video = transcript.video
    is_own = transcript.origin == CaptionOrigin.UPLOAD and not transcript.language
    is_only = not video.transcripts.exclude(pk=transcript.pk).exists()
    return is_own and is_only and "language" not in video.edited
