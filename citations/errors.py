"""What may fail while a library is searched, indexed or embedded: a class a cause, in the families of ``transcripts.errors``."""

from transcripts.errors import (
    Conflict,
    InvalidInput,
    KnowledgeBaseError,
    NotFound,
    Retry,
    TooLarge,
    Unavailable,
)

# Looking things up


class SourceNotFound(NotFound):
    """No source of that id in the collections the caller may see."""

    code = "source_not_found"
    default_hint = "`kb list`, the Sources page and the tool list_sources name what there is."


class PassageNotFound(NotFound):
    """The passage that was marked is no longer there."""

    code = "passage_not_found"


class PageNotFound(NotFound):
    """The document has no such page, or none yet."""

    code = "page_not_found"


class DocumentNotFound(NotFound):
    """The source was not made from a file: there is none to be had."""

    code = "document_not_found"


# Live lectures


class LectureNotFound(NotFound):
    """No lecture of that id in the collections the caller may see."""

    code = "lecture_not_found"


class LectureEnded(Conflict):
    """The lecture has ended: nothing can be said in it any more."""

    code = "lecture_ended"
    default_hint = "Start another one."


class WindowTaken(Conflict):
    """The index belongs to a window of another text."""

    code = "window_taken"


class CitationNotFound(NotFound):
    """No citation of that id in the collections the caller may see."""

    code = "citation_not_found"


# Answers


class ConversationNotFound(NotFound):
    """No conversation of that id that is the caller's."""

    code = "conversation_not_found"


class AnswerNotFound(NotFound):
    """No answer of that id in the caller's conversations."""

    code = "answer_not_found"


class NoteNotFound(NotFound):
    """No note of that id in the collections the caller may see."""

    code = "note_not_found"


class AlreadyAnswering(Conflict):
    """The question before this one is still being answered in the same conversation."""

    code = "already_answering"
    default_hint = "Wait for it, or ask in a new conversation."


# Questions


class InvalidFilter(InvalidInput):
    """A filter whose value cannot be understood."""

    code = "invalid_filter"


class InvalidGold(InvalidInput):
    """A line of a gold file that cannot be understood."""

    code = "invalid_gold"


class NothingToCalibrate(Conflict):
    """A distance is to be found for a library that holds no passage yet."""

    code = "nothing_to_calibrate"


# Settings and the lock


class InvalidProvider(InvalidInput):
    """A provider or model that the settings name and that does not exist, or that lacks its key."""

    code = "invalid_provider"
    retry = Retry.SETTINGS


class EmbeddingMismatch(Conflict):
    """The settings name another embedding model than the one the library is locked to."""

    code = "embedding_mismatch"
    retry = Retry.SETTINGS


class MigrationConflict(Conflict):
    """The embeddings cannot be migrated as asked: one is under way to another model, or it would lose the user's own marked hits."""

    code = "migration_conflict"


# Models and their servers


class ModelError(Unavailable):
    """A model cannot be used now."""

    code = "model_error"
    retry = Retry.SETTINGS


class ModelMissing(ModelError):
    """A local model is not on this machine; nothing is downloaded in the middle of a search or an ingest."""

    code = "model_missing"
    default_hint = "`kb models` lists what is missing, `kb models fetch` gets it."


class ModelServerError(ModelError):
    """A model's server gave no usable answer: unreachable, too slow, a server error, or nonsense. Trying later may help."""

    code = "model_server"
    retry = Retry.SERVER


class ModelRefused(ModelError):
    """A model's server refused: a wrong key, no credit, an unknown model, an input it does not take. Trying again will not help."""

    code = "model_refused"
    default_hint = "Check the key and the model that the settings name; `kb config` shows them."


# Documents


class DocumentEncrypted(InvalidInput):
    """A file that opens only with a password."""

    code = "document_encrypted"
    default_hint = "Save a copy without the password and add that."


class DocumentBroken(InvalidInput):
    """A file that is not what it says it is, or is damaged beyond what its reader can bear."""

    code = "document_broken"
    default_hint = "Open it in another program and save or print it as a new file, then add that."


class DocumentWithoutText(InvalidInput):
    """A file with no words at all: scanned pages, pictures, or nothing."""

    code = "document_without_text"
    default_hint = "Let a program recognise its words (OCR) and add the file that it makes."


class DocumentUnknown(InvalidInput):
    """A file of a kind that no reader reads, by its content."""

    code = "document_unknown"
    default_hint = "PDF, Markdown, text and HTML files are read."


class DocumentTooLarge(TooLarge):
    """A file of more bytes or pages than the settings allow."""

    code = "document_too_large"
    default_hint = "Split it, or raise MAX_DOCUMENT_BYTES or MAX_DOCUMENT_PAGES."


__all__ = [
    "AlreadyAnswering",
    "AnswerNotFound",
    "ConversationNotFound",
    "NoteNotFound",
    "DocumentBroken",
    "DocumentEncrypted",
    "DocumentNotFound",
    "DocumentTooLarge",
    "DocumentUnknown",
    "DocumentWithoutText",
    "CitationNotFound",
    "EmbeddingMismatch",
    "InvalidFilter",
    "InvalidGold",
    "InvalidProvider",
    "KnowledgeBaseError",
    "LectureEnded",
    "LectureNotFound",
    "MigrationConflict",
    "ModelError",
    "ModelMissing",
    "ModelRefused",
    "ModelServerError",
    "PageNotFound",
    "PassageNotFound",
    "SourceNotFound",
    "WindowTaken",
]
