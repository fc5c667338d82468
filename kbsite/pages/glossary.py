"""The words of Cuebase: one for one thing, on every door. ``docs/glossary.md`` is made of it."""

from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryTerm:
    """A word, what it means, and the words that no door says in its place."""

    word: Any
    meaning: Any
    avoided: tuple[str, ...] = ()


TERMS: Final = (
    GlossaryTerm(
        word=_("answer"),
        meaning=_(
            "Cuebase's response to a question: claims, each supported by citations. If the "
            "sources say nothing, the answer is a refusal."
        ),
    ),
    GlossaryTerm(
        word=_("captions"),
        meaning=_("The timed lines of a video, as YouTube or a file delivers them."),
        avoided=("subtitle", "subtitles"),
    ),
    GlossaryTerm(
        word=_("chunk"),
        meaning=_(
            "The unit in which a source is indexed; readers see passages. A time chunk is a "
            "stretch of a transcript that is read at once; parameters call it chunk."
        ),
        avoided=("snippet", "snippets", "fragment of text"),
    ),
    GlossaryTerm(
        word=_("citation"),
        meaning=_("A quote that was found word for word in its source, with its place."),
    ),
    GlossaryTerm(
        word=_("collection"),
        meaning=_(
            "A part of the library with its own members, who may see or change its contents."
        ),
        avoided=("shelf", "shelves", "workspace", "workspaces", "bucket"),
    ),
    GlossaryTerm(
        word=_("conversation"),
        meaning=_("A series of questions with their answers."),
        avoided=("chat history", "chat session"),
    ),
    GlossaryTerm(
        word=_("document"),
        meaning=_("A file of text, such as a PDF, with its pages."),
        avoided=("e-book", "ebook"),
    ),
    GlossaryTerm(
        word=_("feed"),
        meaning=_("A playlist or a channel whose new videos are fetched."),
        avoided=("subscription", "subscriptions"),
    ),
    GlossaryTerm(
        word=_("guide"),
        meaning=_(
            "A description of a source in its own sentences: terms, names, numbers, and questions "
            "that it answers."
        ),
        avoided=("synopsis", "cheat sheet"),
    ),
    GlossaryTerm(
        word=_("highlight"),
        meaning=_(
            "A passage that a reader has marked in a colour, with an optional note and tags."
        ),
        avoided=("underlining", "clipping", "clippings"),
    ),
    GlossaryTerm(
        word=_("index"),
        meaning=_(
            "To prepare a source for the search: by words within seconds, by meaning once its "
            "chunks are embedded."
        ),
        avoided=("re-index", "re-indexing", "ingest", "ingests", "ingestion"),
    ),
    GlossaryTerm(
        word=_("job"),
        meaning=_("Work in the background, such as fetching a video. Activity lists jobs."),
        avoided=("background task", "background job"),
    ),
    GlossaryTerm(
        word=_("lecture"),
        meaning=_("Speech, live or replayed, with matching citations from your sources."),
        avoided=("live session", "lecture session"),
    ),
    GlossaryTerm(
        word=_("library"),
        meaning=_("Everything that you may read, in all your collections."),
        avoided=("repository of knowledge", "corpus"),
    ),
    GlossaryTerm(
        word=_("mark"),
        meaning=_("Your judgment that a hit is right or wrong, used to measure the search."),
        avoided=("thumbs up", "thumbs down", "star rating"),
    ),
    GlossaryTerm(
        word=_("member"),
        meaning=_(
            "A user who belongs to a collection: a viewer reads, an editor adds, an owner manages "
            "members."
        ),
        avoided=("collaborator", "collaborators", "contributor"),
    ),
    GlossaryTerm(
        word=_("note"),
        meaning=_(
            "Text that you write or an answer that you save, visible to the readers of its "
            "collection."
        ),
        avoided=("memo", "memos"),
    ),
    GlossaryTerm(
        word=_("outline"),
        meaning=_("The parts of a source, each with a summary and its place."),
        avoided=("summary tree",),
    ),
    GlossaryTerm(
        word=_("passage"),
        meaning=_("A part of a source found by a search; in a list of results, a hit."),
        avoided=("excerpt", "excerpts"),
    ),
    GlossaryTerm(
        word=_("recording"),
        meaning=_("A video or other recorded speech, with its transcript."),
        avoided=("footage", "media item"),
    ),
    GlossaryTerm(
        word=_("sign in"),
        meaning=_("To identify yourself to Cuebase."),
        avoided=("log in", "login", "log out", "logout", "sign-on"),
    ),
    GlossaryTerm(
        word=_("source"),
        meaning=_("A recording in one language, or a document, that can be searched and cited."),
        avoided=("asset", "assets", "knowledge item"),
    ),
    GlossaryTerm(
        word=_("token"),
        meaning=_("A secret with which a program acts for you."),
        avoided=("access key", "personal access token"),
    ),
    GlossaryTerm(
        word=_("transcript"),
        meaning=_("The text of a recording, in one language, with times."),
        avoided=("transcription", "transcriptions"),
    ),
)
