"""Export conversations as Markdown, JSON, a printable page and bibliographies."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import pairwise
from typing import Final

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import slugify

from citations.answers.answer import Claim, Quote
from citations.answers.library_notes import unready_note
from citations.answers.sections import UNANSWERED, Section
from citations.formats import csl_type
from citations.models import Conversation, Source
from citations.notebook import bibliography, shared_conversations
from citations.notebook.answers import AnswerRecord
from citations.notebook.bibliography import Work
from citations.passages import place
from citations.schemas.answers import ReplyOut
from citations.text.markdown import escape_markdown
from transcripts.conf import absolute
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.scope import Scope

GONE: Final = "This source was deleted."


class ExportFormat(StrEnum):
    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"
    CSL = "csl"
    BIBTEX = "bib"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFile:
    """An exported conversation. ``media_type`` includes the encoding if needed."""

    text: str
    media_type: str
    name: str


def export(
    scope: Scope, user: User | None, conversation: Conversation, form: ExportFormat
) -> ExportFile:
    """Export a conversation as the user may see it, with permanent addresses."""
    audit.record(Action.EXPORT, "conversation", conversation.uuid, form=form)
    _, media_type, ending = _FORMS[form]
    return ExportFile(
        text=render(scope, user, conversation, form),
        media_type=media_type,
        name=f"{slugify(conversation.title)[:80] or 'conversation'}.{ending}",
    )


def render(scope: Scope, user: User | None, conversation: Conversation, form: ExportFormat) -> str:
    """Write a conversation as the user may see it, without a trace in the audit trail."""
    write, _, _ = _FORMS[form]
    answers = shared_conversations.read(scope, user, conversation)
    return write(_VisibleConversation(conversation, answers, scope))


def to_markdown(record: AnswerRecord, *, address: Callable[[str], str] = str) -> str:
    """Render an answer: claims with links, then numbered quotes; ``address`` makes links."""
    if not record.claims:
        return "\n\n".join(map(escape_markdown, _notes(record))) + "\n"
    links = {
        quote.number: f"[\\[{quote.number}\\]]({address(quote.link)})" for quote in record.quotes
    } | {number: f"\\[{number}\\]" for number in record.gone}
    text = "\n\n".join(
        paragraph for section in record.sections for paragraph in _section_markdown(section, links)
    )
    # Not a numbered list: Markdown would renumber it and close its gaps.
    quotes = dict.fromkeys(record.gone, f"*{GONE}*")
    for quote in record.quotes:
        title = f"**{escape_markdown(quote.origin.title)}**"
        parts = (title, escape_markdown(quote.heading), place(quote.locator))
        source = ", ".join(filter(None, parts))
        quotes[quote.number] = f"“{escape_markdown(quote.text)}” — {source}"
    lines = [f"- \\[{number}\\] {quotes[number]}" for number in sorted(quotes)]
    notes = (line for note in _notes(record) for line in ("", escape_markdown(note)))
    return "\n".join([text, "", *lines, *notes]).rstrip() + "\n"


@dataclass(frozen=True, slots=True)
class _VisibleConversation:
    conversation: Conversation
    answers: Sequence[AnswerRecord]
    scope: Scope

    @property
    def about(self) -> str:
        """The date it began and its collection."""
        collection = self.conversation.collection
        began = f"{timezone.localtime(self.conversation.created_at):%Y-%m-%d %H:%M}"
        return f"{began} · {collection.name}" if collection else began


def _markdown(visible: _VisibleConversation) -> str:
    title = escape_markdown(visible.conversation.title)
    parts = [f"# {title}\n", f"{escape_markdown(visible.about)}\n"]
    for record in visible.answers:
        parts += [f"## {escape_markdown(record.question)}\n", to_markdown(record, address=absolute)]
    return "\n".join(parts)


def _notes(record: AnswerRecord) -> list[str]:
    notes = (record.note or record.error, unready_note(record.unready))
    return [note for note in notes if note]


def _section_markdown(section: Section[Claim], links: Mapping[int, str]) -> list[str]:
    heading = [f"### {escape_markdown(section.heading)}"] if section.heading else []
    paragraphs = [
        " ".join(_claim(claim, links) for claim in claims) for claims in _paragraphs(section.claims)
    ]
    return [*heading, *(paragraphs or [f"*{UNANSWERED}*"])]


def _paragraphs(claims: Sequence[Claim]) -> list[Sequence[Claim]]:
    """Start a paragraph at each labelled claim, and where the first place's claims end."""
    starts = [
        index
        for index, claim in enumerate(claims)
        if index == 0 or claim.label or claim.is_more > claims[index - 1].is_more
    ]
    return [claims[first:last] for first, last in pairwise([*starts, len(claims)])]


def _claim(claim: Claim, links: Mapping[int, str]) -> str:
    marks = " ".join(links[number] for number in claim.citations if number in links)
    label = f"**{escape_markdown(claim.label)}:** " if claim.label else ""
    text = label + escape_markdown(claim.text)
    return f"{text} {marks}".rstrip() if claim.is_supported else f"{text} *(unsupported)*"


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
body {{
  font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: anywhere;
}}
h2 {{ font-size: 1.1rem; margin-top: 2rem; break-after: avoid; }}
ol {{ font-size: .875rem; }} li {{ break-inside: avoid; }} sup {{ line-height: 0; }}
</style></head><body><h1 dir="auto">{title}</h1><p>{about}</p>
{answers}</body></html>
"""


def _html(visible: _VisibleConversation) -> str:
    title = visible.conversation.title
    answers = format_html_join("", "{}", ((_section(record),) for record in visible.answers))
    return format_html(_PAGE, title=title, about=visible.about, answers=answers)


def _section(record: AnswerRecord) -> SafeString:
    anchors = {
        quote.number: format_html('<sup><a href="#c{}">[{}]</a></sup>', quote.id, quote.number)
        for quote in record.quotes
    }
    anchors |= {number: format_html("<sup>[{}]</sup>", number) for number in record.gone}
    quoted = '<li id="c{}" value="{}" dir="auto">“{}” — <a href="{}">{}</a>{}</li>'
    lines = {
        quote.number: format_html(
            quoted,
            quote.id,
            quote.number,
            quote.text,
            absolute(quote.link),
            quote.origin.title,
            "".join(f", {part}" for part in (quote.heading, place(quote.locator)) if part),
        )
        for quote in record.quotes
    }
    lines |= {
        number: format_html('<li value="{}"><em>{}</em></li>', number, GONE)
        for number in record.gone
    }
    items = format_html_join("", "{}", ((lines[number],) for number in sorted(lines)))
    return format_html(
        '<section><h2 dir="auto">{}</h2>{}{}{}</section>\n',
        record.question,
        format_html_join("", "{}", ((_section_html(part, anchors),) for part in record.sections)),
        format_html_join("", '<p dir="auto"><em>{}</em></p>', ((note,) for note in _notes(record))),
        format_html("<ol>{}</ol>", items) if lines else "",
    )


def _section_html(section: Section[Claim], anchors: Mapping[int, SafeString]) -> SafeString:
    heading = format_html('<h3 dir="auto">{}</h3>', section.heading) if section.heading else ""
    paragraphs = [_paragraph(claims, anchors) for claims in _paragraphs(section.claims)]
    unanswered = format_html("<em>{}</em>", UNANSWERED)
    rows = ((paragraph,) for paragraph in paragraphs or [unanswered])
    return format_html("{}{}", heading, format_html_join("", '<p dir="auto">{}</p>', rows))


def _paragraph(claims: Iterable[Claim], anchors: Mapping[int, SafeString]) -> SafeString:
    parts = []
    for claim in claims:
        label = format_html("<strong>{}:</strong> ", claim.label) if claim.label else SafeString()
        remark = "" if claim.is_supported else " (unsupported)"
        links = ((anchors[number],) for number in claim.citations if number in anchors)
        parts.append((label, claim.text, remark, format_html_join("", "{}", links)))
    return format_html_join(" ", "{}{}{}{}", parts)


def _json(visible: _VisibleConversation) -> str:
    conversation = visible.conversation
    whole = {
        "id": str(conversation.uuid),
        "title": conversation.title,
        "collection": conversation.collection.slug if conversation.collection else None,
        "created_at": conversation.created_at.isoformat(),
        "answers": [
            ReplyOut.model_validate(record).model_dump(mode="json") for record in visible.answers
        ],
    }
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def _csl(visible: _VisibleConversation) -> str:
    return json.dumps(bibliography.csl(_works(visible)), ensure_ascii=False, indent=2) + "\n"


def _works(visible: _VisibleConversation) -> list[Work]:
    """Return the cited sources in order of first citation, with their citations."""
    cited: dict[int, list[Quote]] = {}
    for quote in (quote for record in visible.answers for quote in record.quotes):
        cited.setdefault(quote.source, []).append(quote)
    sources = Source.objects.visible(visible.scope).in_bulk(list(cited))
    day = timezone.localtime(visible.conversation.updated_at).date()
    return [_work(sources[pk], quotes, day) for pk, quotes in cited.items() if pk in sources]


def _work(source: Source, quotes: Iterable[Quote], accessed: date) -> Work:
    unique = {(place(quote.locator), quote.text): quote for quote in quotes}
    return Work(
        id=str(source.uuid),
        type=csl_type(source.kind),
        title=source.title,
        author=source.author,
        url=source.url or absolute(source.path),
        language=source.language,
        published=timezone.localtime(source.published_at).date() if source.published_at else None,
        accessed=accessed,
        places=tuple(position for position, _ in unique),
        quotes=tuple(text for _, text in unique),
    )


_FORMS: Final[Mapping[ExportFormat, tuple[Callable[[_VisibleConversation], str], str, str]]] = {
    ExportFormat.MARKDOWN: (_markdown, "text/markdown; charset=utf-8", "md"),
    ExportFormat.HTML: (_html, "text/html; charset=utf-8", "html"),
    ExportFormat.JSON: (_json, "application/json", "json"),
    ExportFormat.CSL: (_csl, "application/vnd.citationstyles.csl+json", "csl.json"),
    ExportFormat.BIBTEX: (
        lambda visible: bibliography.bibtex(_works(visible)),
        "application/x-bibtex; charset=utf-8",
        "bib",
    ),
}
