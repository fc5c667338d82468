"""The parameters of the reader of recordings; where a reader is, and how they go on there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from citations.lectures.speech import MAX_INTEGER
from citations.library import reading_progress
from citations.library.filters import find_source
from citations.library.reading_progress import THE_END
from citations.models import Document, ReadingProgress, Source
from citations.notebook.highlights import MAX_QUOTE
from citations.reading.places import page_place
from citations.views.forms import SpanForm
from transcripts.core.errors import InvalidInput, InvalidTime
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean
from transcripts.core.views.requests import (
    PageRequest,
    back,
    number_of,
    query_string,
    redirect_with_message,
)
from transcripts.text.timecodes import clock, parse_clock

VIEWS: Final = (
    ("captions", gettext_lazy("Captions")),
    ("paragraphs", gettext_lazy("Paragraphs")),
    ("chapters", gettext_lazy("Chapters")),
)
PLACES: Final = ("q", "n", "t", "from", "passage", "chunk")  # parameters that name a place
MAX_TRACK: Final = 35  # characters of a language
MAX_SPEAKER: Final = 100  # characters of a name


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderParameters:
    """Where a reader is: a match, characters, a moment (s) or a time chunk, and what it shows."""

    language: str = ""
    query: str = ""
    view: str = VIEWS[0][0]
    speaker: str = ""  # only what they say is shown
    turn: int = 0  # of the speaker, from which on
    number: int | None = None  # of a match, from 1
    near: int | None = None  # ms; the next match is shown
    span: tuple[int, int] | None = None
    passage: str = ""  # words to mark, which a copied link carries
    moment: float | None = None
    until: float | None = None
    chunk: int | None = None

    def query_string(self, **values: object) -> str:
        """Return the query string for another place with the same query and language."""
        parts = {"q": self.query, **values, "speaker": self.speaker, "lang": self.language}
        return query_string(parts) or "?"

    @property
    def matching(self) -> str:
        """The query string that opens a match; its number is to be appended."""
        return f"{self.query_string()}&n="

    @property
    def shown(self) -> str:
        """The view that shows it: of one speaker, paragraphs."""
        return "paragraphs" if self.speaker else self.view

    @property
    def carried_by_all(self) -> str:
        """The parameters that are carried where all speakers are shown."""
        return replace(self, speaker="").carried

    @property
    def carried(self) -> str:
        """The query and the language, to append to a query string; empty by default."""
        question = self.query_string()
        return f"&{question[1:]}" if len(question) > 1 else ""


class ReaderForm(SpanForm):
    """Invalid parameters are ignored, but for a chunk that is no number."""

    n = forms.IntegerField(required=False, min_value=1, max_value=MAX_INTEGER)
    near = forms.IntegerField(required=False, min_value=0, max_value=MAX_INTEGER)
    turn = forms.IntegerField(required=False, min_value=0, max_value=MAX_INTEGER)

    def parameters(self, *, view: str = "", is_part: bool = False) -> ReaderParameters:
        """Return the parameters; ``view`` is the one last chosen. Raises ``InvalidInput``.

        Of a place, or a part (``is_part``), words are shown: chapters have no lines to mark, so
        they are shown there only if the address itself says so.
        """
        span, values = self.span(), self.cleaned_data
        data: Mapping[str, Any] = self.data
        chosen = data.get("view", view)
        is_place = "view" not in data and any(data.get(name) for name in PLACES)
        if chosen == "chapters" and (is_part or is_place):
            chosen = "paragraphs"
        chunk = data.get("chunk")
        if chunk is not None and not (chunk.isascii() and chunk.isdigit() and len(chunk) < 10):
            raise InvalidInput(
                "The time chunk in the address is not a number.",
                hint="Time chunks are counted from 0.",
            )
        return ReaderParameters(
            language=data.get("lang", "")[:MAX_TRACK],
            query=clean(data.get("q", ""), MAX_QUERY_CHARACTERS).strip(),
            view=chosen if chosen in dict(VIEWS) else VIEWS[0][0],
            speaker=clean(data.get("speaker", ""), MAX_SPEAKER),
            turn=values.get("turn") or 0,
            number=values.get("n"),
            near=values.get("near"),
            span=span,
            passage=clean(data.get("passage", ""), MAX_QUOTE),
            moment=_moment(data.get("t", "")),
            until=_moment(data.get("until", "")),
            chunk=int(chunk) if chunk else None,
        )


def _moment(text: str) -> float | None:
    try:
        return parse_clock(text) if text else None
    except InvalidTime:
        return None  # show the recording anyway


FAR: Final = 10_000  # ms from where a recording is opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """The link to where a reader was; ``at`` is its millisecond in a recording."""

    href: str
    label: str
    at: int | None = None


def resume_recording(
    progress: ReadingProgress | None, *, opened_at: int, duration: int, carried: str
) -> Resume | None:
    """Return where to go on in a recording, None where it is opened there anyway."""
    at = progress.position if progress else 0
    if at < FAR or at >= THE_END * duration or abs(at - opened_at) < FAR:
        return None
    label = _("Continue at %(time)s") % {"time": clock(at)}
    return Resume(href=f"?t={at // 1000}s{carried}", label=label, at=at)


def resume_document(progress: ReadingProgress | None, source: Source, number: int) -> Resume | None:
    """Return where to go on in a document, None if that is this page."""
    page = progress.position if progress else 0
    if page < 2 or page == number:
        return None
    href = reverse("source-page", args=(source.uuid, page))
    label = _("Continue on %(place)s") % {"place": page_place(page, source)}
    return Resume(href=href, label=label)


@require_POST
def keep(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Keep a position (ms, or a page), or mark a source as read or unread.

    ``reads_on`` is 1 where the position was reached from the one before without a jump.
    """
    source = find_source(request.access, str(source_id))
    item = source.video or source
    if (mark := request.POST.get("read", "")) == "1":
        reading_progress.finish(request.user, item)
        return back(request, reverse("library"))
    if mark == "0":
        reading_progress.forget(request.user, item)
        return redirect_with_message(
            request, _("“%(title)s” is unread.") % {"title": item}, "library"
        )
    position = number_of(request.POST.get("position", ""))
    if position is None:
        raise InvalidInput("The position is not a number.", hint="Reload the page.")
    reads_on = request.POST.get("reads_on") == "1"
    pages = Document.objects.filter(source=source).values_list("page_count", flat=True)
    length = source.video.duration if source.video else pages.first() or 0
    reading_progress.keep(request.user, item, position=position, length=length, reads_on=reads_on)
    return HttpResponse(status=204)
