"""Errors for language models: what happened, what to do, and which tool helps next."""

from pydantic import ValidationError

from citations.errors import (
    AlreadyAnswering,
    CitationNotFound,
    ConversationNotFound,
    EmbeddingMismatch,
    InvalidFilter,
    SourceNotFound,
)
from kbsite.errors import complaint
from kbsite.mcp.answer_text import for_models
from transcripts.core import errors
from transcripts.core.errors import KnowledgeBaseError


class FetchFailed(KnowledgeBaseError):
    """The job ended without a transcript; message and hint come from the job."""

    code = "fetch_failed"


# The first match counts, so a narrower class stands before a wider one.
_NEXT: tuple[tuple[type[KnowledgeBaseError], str], ...] = (
    (
        errors.VideoNotFound,
        "list_transcripts shows what is there; fetch_transcript gets a YouTube video.",
    ),
    (
        errors.TranscriptNotFound,
        "fetch_transcript with the language wanted, or get_transcript without language.",
    ),
    (errors.ChunkNotFound, "get_transcript with the index of a time chunk that there is."),
    (errors.CollectionNotFound, "list_transcripts without collection."),
    (
        SourceNotFound,
        "list_sources shows the ids; search_knowledge_base without sourceId and videoId searches "
        "everywhere.",
    ),
    (CitationNotFound, "ask_knowledge_base, whose answers give the ids of their citations."),
    (ConversationNotFound, "ask_knowledge_base without conversationId begins another."),
    (InvalidFilter, "search_knowledge_base with fewer filters."),
    (
        errors.JobNotFound,
        "list_transcripts shows what is there already; add_source begins a new job.",
    ),
    (
        errors.InvalidTime,
        "get_transcript with videoId alone says how long it is and how many chunks it has.",
    ),
    (errors.InvalidCursor, "the same tool without cursor."),
    (
        errors.EmptyQuery,
        "search_knowledge_base or search_transcript with words, or get_transcript to read.",
    ),
    (
        errors.InvalidUrl,
        "list_transcripts shows the ids that can be read; add_source takes playlists and channels.",
    ),
    (errors.Forbidden, "list_transcripts and get_transcript read what is there already."),
    (errors.Throttled, "the same call, after that time."),
    (errors.LanguageMissing, "fetch_transcript with one of these languages."),
    (
        errors.YouTubeError,
        "list_transcripts shows what is there already; fetch_transcript tries again.",
    ),
    (EmbeddingMismatch, "search_knowledge_base with mode=words, which needs no model."),
    (
        errors.Unavailable,
        "search_knowledge_base with mode=words, which needs no model; or the same call later.",
    ),
    (AlreadyAnswering, "the same call later, or without conversationId."),
    (errors.Conflict, "get_job, if a job is meant; otherwise list_transcripts."),
    (errors.NotFound, "list_transcripts."),
    (KnowledgeBaseError, "list_transcripts."),
)


def explained(error: KnowledgeBaseError) -> str:
    """Return an expected error as a sentence that ends with the next tool."""
    tool = next(tool for family, tool in _NEXT if isinstance(error, family))
    return f"{for_models(error.text)} Next: {tool}"


def rejected(error: ValidationError, *, tool: str, fields: list[str]) -> str:
    """Name a call's invalid arguments and those the tool takes, without repeating values."""
    wrong = [
        f"{'.'.join(str(part) for part in detail['loc'])[:60]}: {complaint(detail)}"
        for detail in error.errors(include_url=False, include_input=False)[:5]
    ]
    again = f"Next: {tool} again; it takes {', '.join(fields)}."
    return f"These arguments do not fit. {'; '.join(wrong)}. {again}"
