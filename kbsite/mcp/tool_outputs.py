"""The tools' structured content: the shapes of every door, without what a model cannot use.

``LEFT_OUT`` names those fields. Fields that are null or empty texts are left out too.
"""

from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema, to_jsonable_python

from citations.schemas import answers, search
from transcripts import schemas

Row = TypeVar("Row", bound=BaseModel)

LEFT_OUT: Final[dict[type[BaseModel], frozenset[str]]] = {
    schemas.HitOut: frozenset({"spans"}),
    schemas.JobOut: frozenset({"language", "tags", "created_at", "started_at", "finished_at"}),
    schemas.JobProblem: frozenset({"code"}),
    schemas.ReadingOut: frozenset({"hints"}),
    schemas.TranscriptOut: frozenset({"cue_count", "characters"}),
    schemas.VideoDetailsOut: frozenset({"tags", "chapters"}),
    search.DuplicateOut: frozenset({"end", "last_page", "place", "similarity"}),
    search.ExtentOut: frozenset({"place"}),
    search.PartOut: frozenset({"chunk", "link", "place", "text"}),
    search.PassageOut: frozenset({"chunk", "context", "link", "mark", "place", "spans"}),
    search.SearchOut: frozenset({"hypothesis", "milliseconds"}),
    search.SourceOut: frozenset({"characters", "percent", "step", "tags", "updated_at", "url"}),
    search.StageOut: frozenset({"note"}),
    search.TermOut: frozenset({"idf", "stem"}),
    answers.NearestOut: frozenset({"end", "heading", "last_page", "place", "score"}),
    answers.QuotationOut: frozenset({"kind", "url"}),
    answers.QuoteCheckOut: frozenset(
        {"heading", "likeness", "milliseconds", "place", "prefix", "quote", "span", "suffix"}
        | {"timestamp_link"}
    ),
    answers.ReplyOut: frozenset(
        {"created_at", "error", "feedback", "gone", "hint", "milliseconds", "question", "withheld"}
    ),
}
TITLE, NAME = 80, 60  # characters of titles and of other names
LONGEST: Final = {  # characters of these fields
    "title": TITLE,
    "heading": TITLE,
    "channel": NAME,
    "label": NAME,
    "model": NAME,
    "term": NAME,
    "name": 200,
    "message": 300,
    "note": 700,
    "full_question": 300,
    "error": 500,
    "hint": 300,
    "quoted": 120,
    "actual": 120,
}


class Structured(BaseModel):
    """Accepts what ``dump`` returns: the SDK validates an answer against its model again."""


class TranscriptPage(schemas.VideoReadingOut):
    """A page of a transcript."""

    timestamp_link: str = ""
    next_cursor: str | None = None


class HitsPage(schemas.VideoSearchOut):
    """A page of the segments of a video that match a query, best first."""

    next_cursor: str | None = None


class VideosPage(BaseModel):
    """A page of videos, newest first."""

    total: int
    videos: list[schemas.VideoDetailsOut] = []
    next_cursor: str | None = None


class IndexedOut(BaseModel):
    """Whether a video's text in one language is found by words yet, and by meaning."""

    source_id: str
    language: str
    found_by_words: bool
    found_by_meaning: bool
    error: str = ""
    hint: str = ""


class JobProgress(schemas.JobOut):
    """A job, a page of its problems, and how far what it added is indexed."""

    problem_count: int = 0
    sources: list[IndexedOut] = []
    next_cursor: str | None = None


class FetchedOut(BaseModel):
    """A transcript of the library, or the job that fetches it."""

    status: Literal["ready", "queued", "running"]
    transcript: TranscriptPage | None = None
    job: JobProgress | None = None


class PassagesPage(search.SearchOut):
    """A page of the best passages, best first."""

    next_cursor: str | None = None


class SourcesPage(BaseModel):
    """A page of sources, newest first, and how many are being indexed or failed."""

    total: int
    indexing: int
    failed: int
    sources: list[search.SourceOut] = []
    next_cursor: str | None = None


class ReplyPage(answers.ReplyOut):
    """An answer as far as it fits the budget; ``is_cut`` says whether something is left out."""

    is_cut: bool = False


def clip(row: Row) -> Row:
    """Shorten the texts that name something, so that no row costs much more than another."""
    texts = {name: getattr(row, name, None) for name in LONGEST}
    return row.model_copy(
        update={name: text[: LONGEST[name]] for name, text in texts.items() if text}
    )


def titled(row: search.LocatedOut) -> str:
    """Write a row's title and location: “Steam”, 3:28–3:40."""
    return ", ".join(filter(None, (f"“{getattr(row, 'title', '')}”", row.place)))


def dump(value: Any) -> Any:
    """Return a shape as structured content."""
    match value:
        case BaseModel():
            left_out = _left_out(type(value))
            return {
                name: dump(part)
                for name, part in value
                if name not in left_out and part is not None and part != ""
            }
        case list() | tuple():
            return [dump(part) for part in value]
    return to_jsonable_python(value)


class OutputSchema(GenerateJsonSchema):
    """Describes what ``dump`` returns: only fields that it never leaves out are required."""

    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        described = super().model_schema(schema)
        left_out = _left_out(schema["cls"])
        properties = described["properties"] = {
            name: {key: value for key, value in part.items() if key != "description"}
            for name, part in described.get("properties", {}).items()
            if name not in left_out
        }
        described["required"] = [
            name
            for name, part in properties.items()
            if "$ref" in part or "enum" in part or part.get("type") not in (None, "string")
        ]
        return described


def _left_out(shape: type[BaseModel]) -> frozenset[str]:
    return frozenset[str]().union(*(LEFT_OUT.get(base, ()) for base in shape.__mro__))
