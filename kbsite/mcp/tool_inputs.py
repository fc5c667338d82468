"""What each tool may be asked: the plugin's argument names, bounded, and nothing beyond them."""

import hashlib
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, Literal, TypeVar

from django.conf import settings
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from pydantic import AfterValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from citations.library.filters import Filter
from kbsite.mcp import cursors
from kbsite.mcp.budget import MAX_TOKENS, MIN_TOKENS

T = TypeVar("T")


def _clean(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("is not valid Unicode") from None
    if "\0" in text:
        raise ValueError("contains a NUL character")
    return text


Text = Annotated[str, AfterValidator(_clean)]
VideoId = Annotated[
    Text,
    Field(
        min_length=1, max_length=2048, description="Id of the video, or any YouTube address of it."
    ),
]
Language = Annotated[
    Text,
    Field(
        max_length=35,
        description="Language code such as en or de; en.auto for speech recognition beside a better en. Default: the best there is.",
    ),
]
Collection = Annotated[
    Text,
    Field(
        max_length=120,
        description="Collection to look in (its slug or name). Default: all you can see.",
    ),
]
Channel = Annotated[Text, Field(max_length=200, description="Only this channel or author.")]
Tag = Annotated[Text, Field(max_length=100, description="Only with this tag.")]
OneLanguage = Annotated[
    Text, Field(max_length=35, description="Only in this language, such as en (en-GB counts too).")
]
Kind = Annotated[
    Literal["video", "pdf", "markdown", "text"] | None,
    Field(description="Only sources of this kind."),
]
Seconds = Annotated[float | None, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
TargetCollection = Annotated[
    Text, Field(max_length=120, description="Collection to add to (its slug or name).")
]


class Arguments(ArgModelBase):
    """What every tool takes. Unknown arguments are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)

    max_tokens: Annotated[
        int | None,
        Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="Tokens the answer may have at most."),
    ] = None

    @property
    def budget(self) -> int:
        """Return how many tokens the answer may have."""
        return self.max_tokens or max(MIN_TOKENS, settings.MCP_MAX_TOKENS)

    def question(self, of: str = "") -> str:
        """Return a digest of what is asked, whatever the page and the budget; ``of`` tells one tool's questions from another's."""
        asked = self.model_dump_json(exclude={"max_tokens", "cursor"})
        return hashlib.sha256(f"{of or type(self).__name__} {asked}".encode()).hexdigest()[:16]

    def model_dump_one_level(self) -> dict[str, Any]:
        """Hand the arguments to the tool as one value."""
        return {"asked": self}


class PagedInput(Arguments):
    """What a tool takes whose answer may need several pages."""

    cursor: Annotated[
        Text,
        Field(
            max_length=cursors.MAX_LENGTH,
            description="next_cursor of the page before; repeat the other arguments.",
        ),
    ] = ""

    @property
    def place(self) -> tuple[int, str]:
        """Return where the page begins, and the version of what was read before. Raises ``InvalidCursor``."""
        return cursors.read(self.cursor, self.question()) if self.cursor else (0, "")

    def going_on(self, offset: int | None, *, of: str = "") -> str | None:
        """Return the cursor of the next page, None at the end."""
        return None if offset is None else cursors.write(self.question(), offset=offset, of=of)


class FetchTranscript(Arguments):
    """Arguments of fetch_transcript."""

    video_id: VideoId
    language: Language = ""
    collection: TargetCollection = ""


class GetTranscript(PagedInput):
    """Arguments of get_transcript."""

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
    language: Language = ""
    collection: Collection = ""


class SearchTranscript(PagedInput):
    """Arguments of search_transcript."""

    video_id: VideoId
    query: Annotated[Text, Field(max_length=1000, description="Words to find.")]
    max_results: Annotated[int, Field(ge=1, le=50, description="Hits on one page.")] = 5
    language: Language = ""
    collection: Collection = ""


class ListTranscripts(PagedInput):
    """Arguments of list_transcripts."""

    query: Annotated[
        Text, Field(max_length=1000, description="Words that title, channel or id contain.")
    ] = ""
    collection: Collection = ""
    channel: Annotated[Text, Field(max_length=200, description="Only this channel.")] = ""
    tag: Annotated[Text, Field(max_length=100, description="Only with this tag.")] = ""
    language: Annotated[
        Text, Field(max_length=35, description="Only with a transcript in this language.")
    ] = ""
    max_results: Annotated[int, Field(ge=1, le=100, description="Videos on one page.")] = 20


class SourceFilterInput(PagedInput):
    """What tools take that look at sources."""

    collection: Collection = ""
    kind: Kind = None
    channel: Channel = ""
    tag: Tag = ""
    language: OneLanguage = ""

    @property
    def filter(self) -> Filter:
        """Return which part of the library is meant."""
        return Filter(
            collections=_given(self.collection),
            kinds=_given(self.kind),
            channels=_given(self.channel),
            tags=_given(self.tag),
            languages=_given(self.language),
        )


class SearchKnowledgeBase(SourceFilterInput):
    """Arguments of search_knowledge_base."""

    query: Annotated[
        Text,
        Field(
            max_length=1000,
            description='A question, or words; "a phrase" must occur, -word must not.',
        ),
    ]
    mode: Annotated[
        Literal["hybrid", "lexical", "vector"],
        Field(description="By words and meaning, by words alone, by meaning alone."),
    ] = "hybrid"
    source_id: Annotated[
        Text,
        Field(
            max_length=100,
            description="Only in this source: an id that list_sources or a hit gave.",
        ),
    ] = ""
    video_id: Annotated[
        Text,
        Field(max_length=500, description="Only in this video: its id, or its address at YouTube."),
    ] = ""
    since: Annotated[
        date | None, Field(description="Published on this day (2024-01-31) or later.")
    ] = None
    until: Annotated[date | None, Field(description="Published on this day or earlier.")] = None
    start_time: Annotated[
        Seconds, Field(description="Of recordings, only what is said from this second on.")
    ] = None
    end_time: Annotated[
        Seconds, Field(description="Of recordings, only what is said up to this second.")
    ] = None
    max_results: Annotated[int, Field(ge=1, le=50, description="Passages on one page.")] = 8
    explain: Annotated[bool, Field(description="Say how each score came about.")] = False

    @property
    def filter(self) -> Filter:
        """Return which part of the library is meant."""
        start, end = (
            None if value is None else round(value * 1000)
            for value in (self.start_time, self.end_time)
        )
        sources = _given(self.source_id) + _given(self.video_id)
        return replace(
            super().filter,
            sources=sources,
            since=self.since,
            until=self.until,
            start=start,
            end=end,
        )


class VerifyQuote(Arguments):
    """Arguments of verify_quote."""

    quote: Annotated[
        Text,
        Field(
            min_length=1,
            max_length=20_000,
            description="The quote, word for word as it would be cited.",
        ),
    ]
    source_id: Annotated[
        Text,
        Field(
            max_length=500,
            description="The source or video that it is said to be from. Default: any.",
        ),
    ] = ""
    collection: Collection = ""

    @property
    def filter(self) -> Filter:
        """Return which part of the library is meant."""
        return Filter(collections=_given(self.collection))


class ListSources(SourceFilterInput):
    """Arguments of list_sources."""

    query: Annotated[
        Text, Field(max_length=1000, description="Words that title, author or video id contain.")
    ] = ""
    state: Annotated[
        Literal["pending", "words", "ready", "failed"] | None,
        Field(
            description="Only those not indexed yet, found by words, found by words and meaning, or failed."
        ),
    ] = None
    max_results: Annotated[int, Field(ge=1, le=100, description="Sources on one page.")] = 20


class AddSource(Arguments):
    """Arguments of add_source."""

    url: Annotated[
        Text,
        Field(
            min_length=1,
            max_length=2048,
            description="Address of a YouTube video, playlist or channel.",
        ),
    ]
    collection: TargetCollection = ""
    language: Annotated[Text, Field(max_length=35, description="Caption language wanted.")] = ""
    tags: Annotated[
        list[Annotated[Text, Field(min_length=1, max_length=100)]],
        Field(max_length=20, description="Tags to put on what is added."),
    ] = []
    newest: Annotated[
        int | None,
        Field(
            ge=1,
            le=10_000,
            description="Of a playlist or channel, only so many of the newest videos.",
        ),
    ] = None


class GetJob(PagedInput):
    """Arguments of get_job."""

    job_id: Annotated[
        int,
        Field(ge=1, lt=2**63, description="Id that fetch_transcript or add_source answered with."),
    ]


def _given(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()
