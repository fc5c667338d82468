"""What is searched for, and in what: declared once, and read by every door.

REST and MCP take these models; the page's form, ``kb search`` and the client take the parts of
``FilterIn`` as they stand here. Of a part with several values any may match; all parts must match.
"""

from datetime import date
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema

from citations.formats import KindName
from citations.passages import SearchMode
from citations.schemas.notebook import Color
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.schemas import SlugOrName, Text

MAX_VALUES: Final = 100  # of one part of a filter
MAX_LIMIT: Final = 50  # passages of one search
MAX_TAG: Final = 60  # characters of a highlight's
MAX_SECONDS: Final = 1_000_000  # more than eleven days

# Inline: another component of the API has an enumeration of this name.
ModeName = Annotated[
    SearchMode, WithJsonSchema({"type": "string", "enum": [mode.value for mode in SearchMode]})
]
Question = Annotated[Text, StringConstraints(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)]
Reference = Annotated[Text, StringConstraints(max_length=500)]
Name = Annotated[Text, StringConstraints(max_length=200)]
Tag = Annotated[Text, StringConstraints(max_length=100)]
LanguageName = Annotated[Text, StringConstraints(max_length=35)]


def _values(name: str, description: str, *, page_label: str) -> Any:
    """Declare a part with several values, with its name in addresses."""
    return Field(
        (),
        alias=name,
        alias_priority=1,  # MCP has names of its own
        title=page_label,
        description=description,
        max_length=MAX_VALUES,
    )


def _bound(description: str, *, page_label: str) -> Any:
    return Field(None, title=page_label, description=description)


class SourceFilterIn(BaseModel):
    """Which sources."""

    model_config = ConfigDict(populate_by_name=True, frozen=True)

    collections: tuple[SlugOrName, ...] = _values(
        "collection", "Only in this collection: its slug or name.", page_label="Collection"
    )
    kinds: tuple[KindName, ...] = _values(
        "kind", "Only in sources of this kind.", page_label="Kind"
    )
    channels: tuple[Name, ...] = _values(
        "channel", "Only of this channel or author.", page_label="Channel"
    )
    tags: tuple[Tag, ...] = _values("tag", "Only with this tag.", page_label="Tag")
    languages: tuple[LanguageName, ...] = _values(
        "language",
        "Only in this language, a code or name; en includes en-GB.",
        page_label="Language",
    )


class FilterIn(SourceFilterIn):
    """Which sources, and which passages of them; times are seconds."""

    sources: tuple[Reference, ...] = _values(
        "source_id", "Only in this source: its id, or that of a recording.", page_label="Source"
    )
    speakers: tuple[Name, ...] = _values(
        "speaker",
        "Only what this speaker says, where captions name speakers.",
        page_label="Speaker",
    )
    since: date | None = _bound(
        "Published on this day (2024-01-31) or later.", page_label="Published since"
    )
    until: date | None = _bound("Published on this day or earlier.", page_label="Published until")
    start: Seconds | None = _bound(
        "Of recordings, only what is said from this second on.", page_label="From"
    )
    end: Seconds | None = _bound(
        "Of recordings, only what is said up to this second.", page_label="Up to"
    )


class QueryIn(BaseModel):
    """What to find, and how."""

    query: Question = Field(
        alias="q",
        alias_priority=1,
        description='A question, or words; "a phrase" must occur, -word must not.',
    )
    mode: ModeName = Field(
        SearchMode.BOTH, description="By words and meaning, by words alone, or by meaning alone."
    )
    limit: int = Field(10, ge=1, le=MAX_LIMIT)
    explain: bool = Field(False, description="Explain each score, and why hits are not listed.")


class SearchIn(FilterIn, QueryIn):
    """A query and filters. A repeated filter matches any of its values; all filters must match."""


class HighlightFilterIn(BaseModel):
    """Which highlights, one's own and those that others share; all parts must match."""

    model_config = ConfigDict(populate_by_name=True, frozen=True)

    words: Annotated[
        Name, Field(description="Words of the passage, its note or the source's title.")
    ] = ""
    source: Annotated[
        Reference,
        Field(
            alias="source_id",
            alias_priority=1,
            description="Only of this source: its id, or that of a recording.",
        ),
    ] = ""
    collection: Annotated[
        SlugOrName, Field(description="Slug or name; empty: all your collections.")
    ] = ""
    tag: Annotated[Text, StringConstraints(max_length=MAX_TAG)] = ""
    color: Literal[""] | Color = ""
    since: Annotated[date | None, Field(description="Made on this day or later.")] = None
    until: Annotated[date | None, Field(description="Made on this day or earlier.")] = None
    cards: Annotated[bool, Field(description="Only cards.")] = False
    own: Annotated[bool, Field(description="Only your own.")] = False


LISTS: Final = {  # the parts with several values, by their names in addresses
    str(field.alias): name for name, field in FilterIn.model_fields.items() if field.default == ()
}
BOUNDS: Final = tuple(name for name in FilterIn.model_fields if name not in LISTS.values())
COLORS: Final = get_args(Color)
