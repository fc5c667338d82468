"""Expected errors of the library, search and models: one class per cause."""

from transcripts.core.errors import Conflict, InvalidInput, NotFound, Retry, TooLarge, Unavailable
from transcripts.core.installation import install_command

# Looking things up


class SourceNotFound(NotFound):
    """The caller can see no source with this id."""

    code = "source_not_found"
    default_hint = "`kb sources`, the Library page and the tool list_sources show all sources."


class PassageNotFound(NotFound):
    """The marked passage no longer exists."""

    code = "passage_not_found"


class SourceNotRead(Unavailable):
    """The document has not been read completely yet."""

    code = "source_not_read"
    default_message = "Its source is being indexed; its words are not all there yet."


class PageNotFound(NotFound):
    """The document has no page with this number, or none yet."""

    code = "page_not_found"


class DocumentNotFound(NotFound):
    """The source was not made from a file."""

    code = "document_not_found"


# Live lectures


class LectureNotFound(NotFound):
    """The caller can see no lecture with this id."""

    code = "lecture_not_found"
    default_message = "There is no such lecture."


class LectureEnded(Conflict):
    """The lecture has ended and accepts no more speech."""

    code = "lecture_ended"
    default_hint = "Start another lecture."


class WindowTaken(Conflict):
    """The index is already used for a window with another text."""

    code = "window_taken"


class CitationNotFound(NotFound):
    """The caller can see no citation with this id."""

    code = "citation_not_found"
    default_message = "There is no such citation."


# Answers


class ConversationNotFound(NotFound):
    """The caller has no conversation with this id."""

    code = "conversation_not_found"
    default_message = "There is no such conversation."


class AnswerNotFound(NotFound):
    """The caller's conversations contain no answer with this id."""

    code = "answer_not_found"
    default_message = "There is no such answer."


class NoteNotFound(NotFound):
    """The caller can see no note with this id."""

    code = "note_not_found"
    default_message = "There is no such note."


class SharedLinkNotFound(NotFound):
    """The shared link has expired or was revoked, or its content may no longer be shared."""

    code = "shared_link_not_found"


class CannotBeCut(InvalidInput):
    """The clip for a shared link cannot be cut out of its audio or video file."""

    code = "cannot_be_cut"
    default_hint = "Share the text alone."


class CutterBusy(Unavailable):
    """Another clip is being cut."""

    code = "cutter_busy"
    default_hint = "Try again in half a minute, or share the text alone."


class CutterMissing(Unavailable):
    """FFmpeg, which cuts clips, is not installed."""

    code = "cutter_missing"
    default_message = "Sound and pictures cannot be shared: FFmpeg is not installed."
    default_hint = f"Share the text alone, or install it with `{install_command('clips')}`."


class LinksNotAllowed(Conflict):
    """The collection's owners do not allow shared links."""

    code = "links_not_allowed"


class HighlightNotFound(NotFound):
    """The caller can see no highlight with this id."""

    code = "highlight_not_found"
    default_message = "There is no such highlight."


class ArchiveNotFound(NotFound):
    """The caller has no archive with this id, or may no longer read all of its contents."""

    code = "archive_not_found"
    default_message = "There is no such archive."
    default_hint = "Archives are kept for a day; make a new one."


class AlreadyAnswering(Conflict):
    """The previous question of the conversation is still being answered."""

    code = "already_answering"
    default_hint = "Wait for the answer, or ask in a new conversation."
    retry_after = 5


# Questions


class InvalidFilter(InvalidInput):
    """A filter has an invalid value."""

    code = "invalid_filter"


class HiddenWordsNotFound(InvalidInput):
    """The words for a card to hide are not in its sentence."""

    code = "hidden_words_not_found"
    default_hint = "Write words exactly as in the sentence, or leave the field empty."


class InvalidGold(InvalidInput):
    """A gold file has an invalid line."""

    code = "invalid_gold"


# Settings


class InvalidProvider(InvalidInput):
    """The settings name a provider or model that does not exist or lacks its key."""

    code = "invalid_provider"
    retry = Retry.SETTINGS


class EmbeddingMismatch(Conflict):
    """The settings name an embedding model other than the one the library is locked to."""

    code = "embedding_mismatch"
    retry = Retry.SETTINGS


class MigrationConflict(Conflict):
    """The embeddings cannot be migrated: a migration to another model is running, or search would
    lose passages that users marked as right.
    """

    code = "migration_conflict"


# Models and their servers


class ModelError(Unavailable):
    """A model cannot be used now."""

    code = "model_error"
    retry = Retry.SETTINGS


class ModelMissing(ModelError):
    """A local model is not on this machine. Searching and indexing never download models."""

    code = "model_missing"
    default_hint = "`kb models` lists missing models, `kb models fetch` downloads them."


class ModelServerError(ModelError):
    """A model's server is unreachable, too slow, or returned an error or an invalid response.

    Retrying later may help.
    """

    code = "model_server"
    retry = Retry.SERVER


class ModelRefused(ModelError):
    """A model's server refused: wrong key, no credit, unknown model or invalid input. Retrying does
    not help.
    """

    code = "model_refused"
    default_hint = "Check the key and the model in the settings; `kb config` shows them."


# Documents


class PageImageBusy(Unavailable):
    """Another page image is taking a long time to render."""

    code = "page_image_busy"
    default_hint = "Try again in half a minute; the page is shown as text."


class DocumentEncrypted(InvalidInput):
    """The file is protected by a password."""

    code = "document_encrypted"
    default_hint = "Save a copy without the password and add that."


class DocumentBroken(InvalidInput):
    """The file is damaged, or its format is not what it claims."""

    code = "document_broken"
    default_hint = "Open it in another program, save or print it as a new file, and add that."


class DocumentWithoutText(InvalidInput):
    """The file has no text: it has scanned pages or pictures, or is empty."""

    code = "document_without_text"
    default_hint = "Its page reads it by OCR; so does `kb add --ocr FILE`."


class OcrMissing(Unavailable):
    """RapidOCR, which reads pages that are pictures, is not installed."""

    code = "ocr_missing"
    default_message = "Pages cannot be read by OCR: it is not installed."
    default_hint = f"Install it with `{install_command('ocr')}`, and start Cuebase again."


class OcrFailed(Unavailable):
    """A page could not be read by OCR, for other reasons than what it shows."""

    code = "ocr_failed"
    default_hint = "Try again; if it happens again, `kb doctor` may know why."


class NothingToRead(Conflict):
    """OCR has nothing to do: all pages have words, or it reads them already."""

    code = "nothing_to_read"
    default_hint = "OCR is for pages without a text layer, and for those with a broken one."


class SpeechMissing(Unavailable):
    """Nothing recognises speech here: the settings say so, or its program is not installed."""

    code = "speech_missing"
    default_message = "Recordings cannot be listened to: no speech recognition is installed."
    default_hint = (
        f"Install it with `{install_command('speech')}`, run `kb models fetch speech`, and start"
        " Cuebase again; or let SPEECH_PROVIDER name a server."
    )


class SpeechFailed(Unavailable):
    """The sound of a recording cannot be decoded or recognised."""

    code = "speech_failed"
    retry = Retry.ONCE
    default_hint = "Play the file, and convert it to MP3 if it plays; `kb doctor` may know more."


class DocumentUnknown(InvalidInput):
    """Files with this content are not supported."""

    code = "document_unknown"
    default_hint = "The page Add and `kb add --help` list the formats of documents."


class WebPageRefused(InvalidInput):
    """A site does not give a page: it does not exist, is not for everybody, or is not public."""

    code = "web_page_refused"
    default_hint = "Open it in your browser, save it as a web page or PDF there, and add that file."


class WebPageUnreachable(Unavailable):
    """A site cannot be reached, or cannot answer now. Another try may help."""

    code = "web_page_unreachable"
    retry = Retry.NETWORK
    default_hint = "Check the address, or save the page in your browser and add that file."


class EpisodesLeftOut(TooLarge):
    """A podcast's feed has more episodes than are added at once; the older ones are left out."""

    code = "episodes_left_out"
    default_hint = "Download the files of the episodes that you miss, and add these."


class DocumentTooLarge(TooLarge):
    """The file has more bytes or pages than the settings allow."""

    code = "document_too_large"
    default_hint = "Split it, or raise MAX_DOCUMENT_BYTES or MAX_DOCUMENT_PAGES."
