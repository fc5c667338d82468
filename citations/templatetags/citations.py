"""Filters for positions, marked text, scores, notes, jobs with their sources, and shared links."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol
from urllib.parse import urlencode
from uuid import UUID

from django import template
from django.forms.utils import flatatt
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from citations import formats
from citations.answers import sections
from citations.answers.answer import answer_spans
from citations.answers.question.wording import separated
from citations.documents.pages import continue_tables
from citations.ingest.time_left import rounded
from citations.lectures.cards import heading_path
from citations.library import collection_contents, sources
from citations.library.item import KINDS
from citations.library.sources import JobSources
from citations.models import Citation, Page, Source
from citations.models import sources as source_models
from citations.notebook import link_terms
from citations.notebook.answers import AnswerRecord
from citations.notebook.link_terms import LinkTerms
from citations.notebook.shared_items import SharedItem
from citations.passages import ColoredSpan, Located, Locator, Passage, PassageSource, printed_page
from citations.providers.languages import empty_words
from citations.readers.clips import cutter
from citations.readers.markup.mathml import set_formulas
from citations.readers.markup.rendering import render_note
from citations.readers.markup.sanitizer import below_title, sanitize
from citations.reading.marked_html import label, mark
from citations.reading.places import page_place, passage_place, place, stored_place
from citations.reading.position import Position
from citations.sureness import HITS, LECTURES, SurenessLevel, level_of
from citations.text.passage_text import read
from citations.text.speakers import label_length
from transcripts.conf import absolute
from transcripts.models import Collection, Job
from transcripts.models.jobs import state_text
from transcripts.templatetags.transcripts import marked
from transcripts.text.reading import cut_at_word
from transcripts.text.timecodes import watch_url

register = template.Library()
register.filter(absolute)
register.filter(heading_path)
register.filter(place)
register.filter(page_place)
register.filter(stored_place)
register.filter(passage_place)
register.filter("part_heading", sections.heading)  # of a question, without its context
register.simple_tag(collection_contents.deleted_with)
register.simple_tag(cutter.is_installed, name="can_cut_clips")
register.simple_tag(formats.names, name="format_names")
register.simple_tag(lambda: str(sections.UNANSWERED), name="unanswered")

PREVIEW = 150  # characters of a passage on a card
PREVIEW_TITLE = 90  # characters of a title in a link preview


class MarkedText(Protocol):
    """Spans, as characters [first, last), to mark in a text, and who is named as saying it."""

    quote: Sequence[tuple[int, int]]
    matches: Sequence[tuple[int, int]]
    highlights: Sequence[ColoredSpan]
    speaker: str


@register.filter
def earlier_question(question: str) -> str:
    """Return the question that another one, which refers to it, was looked up with."""
    return separated(question)[1]


@register.filter
def time_left(seconds: float) -> str:
    """Write how long work still takes, such as ``about 4 minutes left``."""
    unit, count = rounded(seconds)
    if not count:
        return _("less than a minute left")
    texts = {
        "minute": ngettext("about a minute left", "about %(count)s minutes left", count),
        "hour": ngettext("about an hour left", "about %(count)s hours left", count),
        "day": ngettext("about a day left", "about %(count)s days left", count),
    }
    return texts[unit] % {"count": count}


@register.filter
def with_marks(text: str, marks: MarkedText) -> SafeString:
    """Escape a text and mark the spans, which may overlap, and the name of who says it."""
    spans, labels = _spans_of(marks), _labels_of(marks)
    end_of_name = len(text[: label_length(text, marks.speaker)].rstrip())
    borders = {offset for kind in spans.values() for span in kind for offset in span}
    parts: list[SafeString | str] = []
    for start, end in pairwise(sorted({0, len(text), end_of_name, *borders})):
        part: SafeString | str = text[start:end]
        if end <= end_of_name:  # within a mark: a script sets the classes of that
            part = format_html('<b class="speaker">{}</b>', part)
        kinds = [kind for kind in spans if any(a <= start < b for a, b in spans[kind])]
        label_html = mark_safe(label(labels[start])) if start in labels else ""  # escaped there
        mark = format_html('<mark class="{}">{}{}</mark>', " ".join(kinds), label_html, part)
        parts.append(mark if kinds else part)
    return format_html_join("", "{}", ((part,) for part in parts))


@register.filter
def without_label(text: str, speaker: str) -> str:
    """Leave out the name at the beginning of a text, where the name stands beside it."""
    return text[label_length(text, speaker) :]


@register.filter
def with_answer(text: str, answer: str) -> SafeString:
    """Mark the sentence that answers in a quotation."""
    return marked(text, answer_spans(text, answer))


@register.simple_tag
def selectable(origin: PassageSource, locator: Locator, link: str) -> SafeString:
    """Write the attributes of an element whose text stands as it is at a place of a source: words
    that are selected in it can be highlighted.
    """
    values = {
        "passage": True,
        "source": origin.id,
        "title": origin.title,
        "link": link,
        "place": place(locator),
        "page": locator.page,
        "start": locator.start,
    }
    attributes = {f"data-{name}": value for name, value in values.items() if value is not None}
    return flatatt(attributes | ({"lang": origin.language} if origin.language else {}))


@register.filter
def marked_speech(passage: Passage) -> SafeString:
    """Mark a passage's words of the query; a speaker's name stands beside it, not in it, too."""
    cut = label_length(passage.text, passage.speaker)
    spans = [(max(0, first - cut), last - cut) for first, last in passage.spans if last > cut]
    return marked(passage.text[cut:], spans)


@register.filter
def rendered(page: Page, marks: MarkedText) -> SafeString:
    """Sanitise the HTML of a page, mark the spans of its text, and continue its tables."""
    spans, labels = _spans_of(marks), _labels_of(marks)
    markup = below_title(sanitize(page.html))
    marked_page = set_formulas(mark(markup, page.text, spans, labels))
    return mark_safe(continue_tables(page, marked_page))  # sanitised before


def _spans_of(marks: MarkedText) -> dict[str, list[tuple[int, int]]]:
    """Return the spans by the classes of their marks."""
    spans = {"quoted": [*marks.quote], "looked-for": [*marks.matches]}
    spans["unsure"] = [*getattr(marks, "unsure", ())]  # of heard recordings alone
    for span in marks.highlights:
        classes = f"highlight highlight-{span.color} highlight-{span.highlight}"
        spans.setdefault(classes, []).append((span.first, span.last))
    return spans


def _labels_of(marks: MarkedText) -> dict[int, str]:
    """Return the labels of highlights, by the characters at which they begin."""
    spans = marks.highlights
    return {span.first: str(_HIGHLIGHTED[span.color]) for span in spans if span.begins}


_HIGHLIGHTED = {
    "yellow": gettext_lazy("Highlighted in yellow"),
    "green": gettext_lazy("Highlighted in green"),
    "blue": gettext_lazy("Highlighted in blue"),
    "pink": gettext_lazy("Highlighted in pink"),
}


@register.simple_tag
def preview_title(source: Source, locator: Locator | None) -> str:
    """Return the title of a link preview: that of the source, with the place."""
    title = Truncator(source.title).chars(PREVIEW_TITLE)
    return ", ".join(filter(None, (title, place(locator) if locator else "")))


@register.filter
def printed_place(citation: Citation) -> str:
    """Write a position, with the number that is printed on its first page if that differs."""
    form = _("%(place)s (printed %(label)s)") % {"place": "{0}", "label": "{1}"}
    label = getattr(citation, "page_label", None)
    return printed_page(place(citation), citation.page, label, form)


@register.filter
def answer_level(confidence: float) -> SurenessLevel:
    """Return how sure an answer is."""
    return level_of(confidence)


@register.filter
def hit_level(score: float) -> SurenessLevel:
    """Return how sure a hit is that the judge has scored."""
    return level_of(score, HITS)


@register.filter
def citation_level(score: float | None) -> SurenessLevel:
    """Return how sure a citation of a lecture is."""
    return level_of(score or 0.0, LECTURES)


@register.filter
def hit(locator: Locator, query: str) -> str:
    """Write the query string that opens a passage at the sentence that a query is about."""
    first, last = locator.span
    return f"?{urlencode({'from': first, 'to': last, 'q': query})}"


@register.filter
def clip_address(located: Located) -> str:
    """Write the query string that plays a passage from its start until its end."""
    times = {"t": located.start, "until": located.end}
    return urlencode({name: f"{ms / 1000:.3f}s" for name, ms in times.items() if ms is not None})


@register.filter
def preview(citation: Citation, speech: str) -> SafeString:
    """Show a passage from the sentence on that is nearest to the speech, and mark it."""
    text = " ".join(citation.quote.split())
    language = citation.source.language
    start, stop = read(text, language).nearest_sentence(speech, stops=empty_words(language))
    cut = cut_at_word(text[start:], PREVIEW)
    length = min(stop - start, len(cut))
    lead, rest = "… " if start else "", cut[length:]
    if start + len(cut) < len(text):
        rest += " …"
    return format_html("{}<mark>{}</mark>{}", lead, cut[:length], rest)


@register.filter
def shortened(text: str, length: int) -> str:
    """Cut a text after a word."""
    cut = cut_at_word(text, length)
    return cut if cut == text else f"{cut} …"


@register.filter
def beginning(text: str, length: int) -> SafeString:
    """Cut a text after a word; the sign of that is not selected with the words."""
    cut = cut_at_word(text, length)
    return format_html("{}" if cut == text else '{}<span class="cut"> …</span>', cut)


@register.filter
def decimal(share: float) -> str:
    """Format a number for SVG, independent of the locale."""
    return f"{share:.5f}"


@register.filter
def percent(share: float) -> int:
    """Convert a share to whole percent, 0 to 100."""
    return max(0, min(100, round(share * 100)))


@register.filter
def shown_kind(origin: PassageSource) -> str:
    """Return the kind that pages show of a passage’s source."""
    return source_models.shown_kind(origin.kind, origin.player)


@register.filter
def kind_name(kind: str) -> str:
    """Return the label of a kind of source, as ``shown_kind`` says it, or of an item."""
    return str(dict(KINDS).get(kind, kind))


@register.filter
def get(values: Mapping[Any, Any], name: Any) -> Any:
    """Return the value of a name in a mapping, 0 if it has none."""
    return values.get(name, 0)


@register.filter
def markdown(text: str) -> SafeString:
    """Render a note that is written in Markdown."""
    return mark_safe(render_note(text))  # sanitised there


@register.inclusion_tag("citations/_shared_player.html")
def shared_player(item: SharedItem, source: UUID, locator: Locator | None) -> dict[str, Any]:
    """Show what plays a passage that a link shows, and its address on YouTube; nothing of others.

    ``is_alone``: it is all that the link shows.
    """
    video = item.recordings.get(source)
    if video is None or locator is None or locator.start is None:
        return {}
    clip = item.clip_of(source, locator)
    return {
        "player": item.player_of(source, locator),
        "video": video,
        "position": Position(begin=locator.start, until=locator.end),
        "clip": clip,
        "file": clip and reverse("shared-media", args=(item.link.uuid, clip.uuid)),
        "lead": Position(begin=clip.lead).media_fragment if clip and clip.lead else "",
        "original": video.youtube_id and watch_url(video.youtube_id, at_ms=locator.start),
        "is_alone": item.answer is None,
    }


@register.simple_tag(takes_context=True)
def sources_of(context: dict[str, Any], job: Job) -> JobSources:
    """Return the sources of a job; a list of jobs finds those of all at once."""
    known: dict[int, JobSources] = context.get("job_sources", {})
    if job.pk in known:
        return known[job.pk]
    scope = context.get("scope") or context["request"].access
    return sources.of_jobs(scope, [job])[job.pk]


@register.filter
def state_with(job: Job, sources: JobSources) -> str:
    """Return the state of a job in words; documents that turned out unreadable are not read."""
    failed = job.failure_count + len(sources.unreadable)
    return state_text(job.kind, job.state, done=job.done, failed=failed)


@register.filter
def is_partial_with(job: Job, sources: JobSources) -> bool:
    """Return whether a job is done, but for parts that failed, or documents that are unreadable."""
    return job.is_partial or job.state == Job.State.DONE and bool(sources.unreadable)


@register.simple_tag(takes_context=True)
def terms_of_links(context: dict[str, Any], collection: Collection) -> LinkTerms:
    """Return what keeps the reader of this page from sharing what a collection holds."""
    request = context["request"]
    return link_terms.of_collection(request.access, request.user, collection)


@register.simple_tag(takes_context=True)
def terms_of_answer(context: dict[str, Any], answer: AnswerRecord) -> LinkTerms:
    """Return what keeps the reader of this page from sharing an answer."""
    request = context["request"]
    known: dict[UUID, LinkTerms] = request.__dict__.setdefault("terms_of_answers", {})
    if answer.id not in known:
        shown = [entry.answer for entry in context.get("answers", ())]  # all at once
        known |= link_terms.of_answers(request.access, request.user, [*shown, answer])
    return known[answer.id]
