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
            "What Cuebase writes to a question: claims, each with the citations that carry it. "
            "Where the sources say nothing, it is a refusal."
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
            "A piece of a source as it is indexed; readers see passages. A time chunk is another"
            " thing: a stretch of a transcript that is read at once. Parameters call it chunk."
        ),
        avoided=("snippet", "snippets", "fragment of text"),
    ),
    GlossaryTerm(
        word=_("citation"),
        meaning=_("A quote that was found word for word in its source, and where it stands."),
    ),
    GlossaryTerm(
        word=_("collection"),
        meaning=_("A part of the library with members, who see and change what is in it."),
        avoided=("shelf", "shelves", "workspace", "workspaces", "bucket"),
    ),
    GlossaryTerm(
        word=_("conversation"),
        meaning=_("Questions that follow each other, with their answers."),
        avoided=("chat history", "chat session"),
    ),
    GlossaryTerm(
        word=_("document"),
        meaning=_("A PDF, Markdown, text or HTML file with its pages."),
        avoided=("e-book", "ebook"),
    ),
    GlossaryTerm(
        word=_("feed"),
        meaning=_("A playlist or a channel of which new videos are fetched."),
        avoided=("subscription", "subscriptions"),
    ),
    GlossaryTerm(
        word=_("guide"),
        meaning=_(
            "What a source is about, in its own sentences: terms, names, numbers, and questions "
            "that it answers."
        ),
        avoided=("synopsis", "cheat sheet"),
    ),
    GlossaryTerm(
        word=_("highlight"),
        meaning=_("Words of a source that a reader keeps, in a colour, with a note and tags."),
        avoided=("underlining", "clipping", "clippings"),
    ),
    GlossaryTerm(
        word=_("index"),
        meaning=_(
            "To prepare a source so that it is found: by words within seconds, by meaning once "
            "its chunks are embedded."
        ),
        avoided=("re-index", "re-indexing", "ingest", "ingests", "ingestion"),
    ),
    GlossaryTerm(
        word=_("job"),
        meaning=_("Work that goes on by itself, such as fetching a video. Activity shows it."),
        avoided=("background task", "background job"),
    ),
    GlossaryTerm(
        word=_("lecture"),
        meaning=_(
            "Speech that is followed live, or replayed, with the citations that belong to it."
        ),
        avoided=("live session", "lecture session"),
    ),
    GlossaryTerm(
        word=_("library"),
        meaning=_("Everything that you may read, of all your collections."),
        avoided=("repository of knowledge", "corpus"),
    ),
    GlossaryTerm(
        word=_("mark"),
        meaning=_("Your judgment that a hit is right or wrong; it measures the search."),
        avoided=("thumbs up", "thumbs down", "star rating"),
    ),
    GlossaryTerm(
        word=_("member"),
        meaning=_("Who belongs to a collection: a viewer reads, an editor adds, an owner decides."),
        avoided=("collaborator", "collaborators", "contributor"),
    ),
    GlossaryTerm(
        word=_("note"),
        meaning=_(
            "Text that you write or an answer that you keep, seen by readers of its collection."
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
        meaning=_("A part of a source that a search finds; in a list of results, a hit."),
        avoided=("excerpt", "excerpts"),
    ),
    GlossaryTerm(
        word=_("recording"),
        meaning=_("A video, or anything else that was said, with its transcript."),
        avoided=("footage", "media item"),
    ),
    GlossaryTerm(
        word=_("sign in"),
        meaning=_("To tell Cuebase who you are."),
        avoided=("log in", "login", "log out", "logout", "sign-on"),
    ),
    GlossaryTerm(
        word=_("source"),
        meaning=_("What can be searched and cited: a recording in one language, or a document."),
        avoided=("asset", "assets", "knowledge item"),
    ),
    GlossaryTerm(
        word=_("token"),
        meaning=_("A secret by which a program acts for you."),
        avoided=("access key", "personal access token"),
    ),
    GlossaryTerm(
        word=_("transcript"),
        meaning=_("What is said in a recording, in one language, with times."),
        avoided=("transcription", "transcriptions"),
    ),
)
