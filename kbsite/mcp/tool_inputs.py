"""The tools' arguments: bounded, with the plugin's names, and no others; and signed cursors.

A cursor belongs to one question and grants no access.
"""

import hashlib
from typing import Annotated, Any, Final, Literal

from django.conf import settings
from django.core import signing
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from pydantic import AfterValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from citations.library.filters import Filter
from citations.schemas.filters import LISTS, MAX_LIMIT, SearchIn, SourceFilterIn
from citations.schemas.requests import QuestionIn, QuoteIn
from transcripts.core.errors import InvalidCursor
from transcripts.core.languages import code_of
from transcripts.schemas import Text

MAX_CURSOR = 500  # characters
MIN_TOKENS, MAX_TOKENS = 500, 100_000  # of an answer
_SALT = "kbsite.mcp.cursor"
# Where zero makes no sense, so that whoever sends it fills in what is not given.
NEVER_ZERO = ("chunkSize", "endTime", "maxResults", "maxTokens", "newest")
ANY: Final = "any"


def _text(longest: int, description: str, *, shortest: int = 0) -> Any:
    return Field(min_length=shortest, max_length=longest, description=description)


VideoId = Annotated[Text, _text(2048, "Id of the recording, or its YouTube address.", shortest=1)]
Language = Annotated[Text, _text(35, "Code such as en or en.auto. Default: the best there is.")]
CollectionName = Annotated[Text, _text(120, "Only this collection (slug or name).")]
TargetCollection = Annotated[Text, _text(120, "Collection to add to (slug or name).")]
Tag = Annotated[Text, _text(100, "Only with this tag.")]
# What the parts of a search are called here, where REST has other names.
_NAMES: Final = {part: name for name, part in LISTS.items()} | {
    "source": "source_id",
    "start": "start_time",
    "end": "end_time",
    "limit": "max_results",
}


def _argument(name: str) -> str:
    return to_camel(_NAMES.get(name, name))


class Arguments(ArgModelBase):
    """What every tool takes. Unknown arguments are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)

    max_tokens: Annotated[
        int | None, Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="Longest answer, in tokens.")
    ] = None

    @model_validator(mode="before")
    @classmethod
    def drop_blanks(cls, arguments: Any) -> Any:
        """Drop optional arguments that are null or empty: strict clients fill in every argument.

        A zero in one of ``NEVER_ZERO`` shows that the client fills in zeros; then all of them go.
        """
        if not isinstance(arguments, dict):
            return arguments
        fills = any(_is_zero(arguments.get(name)) for name in NEVER_ZERO)
        optional = {field.alias for field in cls.model_fields.values() if not field.is_required()}
        several = {field.alias for field in cls.model_fields.values() if field.default == ()}
        return {
            name: [value] if name in several and isinstance(value, str) else _filled(value)
            for name, value in arguments.items()
            if name not in optional
            or not (
                value in (None, "")
                or (name in several and value == ANY)
                or (fills and _is_zero(value))
            )
        }

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe a part of a filter as one value, which is enough for a call."""
        described = super().__get_pydantic_json_schema__(schema, handler)
        for field in cls.model_fields.values():
            if field.default == ():
                part = described["properties"][str(field.alias)]
                value, about = part["items"], {"description": part["description"]}
                if "enum" in value:
                    value = {"enum": [ANY, *value["enum"]], "type": "string", "default": ANY}
                described["properties"][str(field.alias)] = about | value
        return described

    @property
    def budget(self) -> int:
        return self.max_tokens or max(MIN_TOKENS, settings.MCP_MAX_TOKENS)

    def digest(self) -> str:
        """Return a digest of the tool and its arguments, whatever the page and the budget."""
        text = self.model_dump_json(exclude={"max_tokens", "cursor"})
        return hashlib.sha256(f"{type(self).__name__} {text}".encode()).hexdigest()[:16]

    def model_dump_one_level(self) -> dict[str, Any]:
        """Pass the arguments to the tool as one value."""
        return {"arguments": self}


class PagedInput(Arguments):
    """Arguments of a tool whose answer may need several pages."""

    cursor: Annotated[
        Text, _text(MAX_CURSOR, "cursor= of the page before; repeat the other arguments.")
    ] = ""

    @property
    def position(self) -> tuple[int, str]:
        """The page's offset, and the version of the text read. Raises ``InvalidCursor``."""
        return read_cursor(self.cursor, self.digest()) if self.cursor else (0, "")

    def cursor_at(self, offset: int | None, *, of: str = "") -> str | None:
        """Return the cursor of the next page; None at the end."""
        return None if offset is None else write_cursor(self.digest(), offset=offset, of=of)


class FetchTranscript(Arguments):
    video_id: VideoId
    language: Language = ""
    collection: TargetCollection = ""


class GetTranscript(PagedInput):
    video_id: VideoId
    start_time: Annotated[float | None, Field(description="Read from this second on.")] = None
    end_time: Annotated[float | None, Field(description="Read up to this second.")] = None
    chunk_index: Annotated[
        int | None, Field(description="Read this time chunk, counted from 0.")
    ] = None
    chunk_size: Annotated[
        int | None, Field(description="Length of a chunk in seconds, 10 to 86400. Default 300.")
    ] = None
    include_full_transcript: Annotated[
        bool, Field(description="Read all of it, however long, page by page.")
    ] = False
    times: Annotated[
        Literal["15s", "sentence", "none"],
        Field(description="Where [m:ss] stands: every 15 seconds, at each sentence, nowhere."),
    ] = "15s"
    language: Language = ""
    collection: CollectionName = ""


class GetOutline(Arguments):
    source_id: Annotated[Text, _text(2048, "Id of a source or recording.", shortest=1)]


class GetGuide(GetOutline):
    pass


class SearchTranscript(PagedInput):
    video_id: VideoId
    query: Annotated[Text, _text(1000, "Words to find.")]
    max_results: Annotated[int, Field(ge=1, le=50, description="Hits on one page.")] = 5
    language: Language = ""
    collection: CollectionName = ""


class ListTranscripts(PagedInput):
    query: Annotated[Text, _text(1000, "Words that title, channel or id contain.")] = ""
    collection: CollectionName = ""
    channel: Annotated[Text, _text(200, "Only this channel.")] = ""
    tag: Tag = ""
    language: Annotated[Text, _text(35, "Only with a transcript in this language.")] = ""
    max_results: Annotated[int, Field(ge=1, le=100, description="Recordings on one page.")] = 20


class SearchKnowledgeBase(PagedInput, SearchIn):
    model_config = ConfigDict(alias_generator=_argument)

    video_id: Annotated[
        Text, _text(500, "Only in this recording: its id, or its address at YouTube.")
    ] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Passages on one page.")] = 8

    @property
    def filter(self) -> Filter:
        filter = Filter.of(self)
        videos = (self.video_id,) if self.video_id else ()
        return filter.model_copy(update={"sources": filter.sources + videos})


class ConnectorSearch(Arguments):
    """The arguments that ChatGPT's connectors expect."""

    query: Annotated[Text, _text(1000, "A question, or words.")]


class ConnectorFetch(Arguments):
    """The arguments that ChatGPT's connectors expect."""

    id: Annotated[Text, _text(500, "Id of a result of search.", shortest=1)]


class AskKnowledgeBase(Arguments, QuestionIn):
    model_config = ConfigDict(
        alias_generator=lambda name: to_camel({"sources": "source_ids"}.get(name, name))
    )


class GetCitation(Arguments):
    citation_id: Annotated[
        Text, _text(50, "id of a citation that ask_knowledge_base gave.", shortest=1)
    ]


class VerifyQuote(Arguments, QuoteIn):
    model_config = ConfigDict(alias_generator=_argument)


class ListSources(PagedInput, SourceFilterIn):
    model_config = ConfigDict(alias_generator=_argument)

    query: Annotated[Text, _text(1000, "Words that title, author or recording's id contain.")] = ""
    state: Annotated[
        Literal["any", "pending", "words", "ready", "failed"],
        Field(description="Only those not indexed, found by words, by meaning too, or failed."),
    ] = ANY
    max_results: Annotated[int, Field(ge=1, le=100, description="Sources on one page.")] = 20


class AddSource(Arguments):
    url: Annotated[
        Text,
        _text(2048, "Address of a YouTube video, playlist, channel, or a web page.", shortest=1),
    ]
    collection: TargetCollection = ""
    language: Annotated[Text, AfterValidator(code_of), _text(35, "Caption language wanted.")] = ""
    tags: Annotated[
        list[Annotated[Text, Field(min_length=1, max_length=100)]],
        Field(max_length=20, description="Tags to put on what is added."),
    ] = []
    newest: Annotated[
        int | None,
        Field(ge=1, le=10_000, description="Of a playlist or channel, only the newest videos."),
    ] = None


class GetJob(PagedInput):
    job_id: Annotated[
        int, Field(ge=1, lt=2**63, description="Id that fetch_transcript or add_source gave.")
    ]


def write_cursor(question: str, *, offset: int, of: str = "") -> str:
    """Return the cursor for ``question`` at ``offset``; ``of`` is the version of the text that is
    read.
    """
    return signing.dumps([question, offset, of], salt=_SALT)


def read_cursor(cursor: str, question: str) -> tuple[int, str]:
    """Return offset and version. Raises ``InvalidCursor`` if forged or of another question."""
    try:
        digest, offset, of = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        raise InvalidCursor(
            "This cursor was not made by this server.",
            hint="Copy the cursor unchanged, or leave the cursor out to start again.",
        ) from None
    if digest != question:
        raise InvalidCursor(
            "This cursor belongs to another question.",
            hint="Repeat the call that returned it with the same arguments and the cursor.",
        )
    return offset, of


def _is_zero(value: Any) -> bool:
    return value == 0 and isinstance(value, int | float) and not isinstance(value, bool)


def _filled(value: Any) -> Any:
    return [part for part in value if part not in (None, "")] if isinstance(value, list) else value
