"""Overviews of a source within a token budget: its chapters and outline, and its guide."""

from collections.abc import Sequence
from typing import Final

from citations.errors import SourceNotFound
from citations.guide import storage as guide_storage
from citations.guide.items import KINDS
from citations.library.filters import find_source
from citations.models import Source
from citations.outline import storage
from citations.passages import place
from kbsite.mcp.answer_text import NAME, TITLE, fitting, shorten, tokens
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Video
from transcripts.text.timecodes import clock

PART: Final = 1_500  # characters of one section's summary
SENTENCE: Final = 160  # characters of a section's summary in a table of contents
TITLES: Final = {
    "about": "About",
    "terms": "Key terms",
    "names": "Names",
    "numbers": "Numbers",
    "questions": "Questions that it answers",
}
_VERBATIM: Final = "The sentences are the source's own; abstracts are a language model's."
_ABOUT: Final = "All sentences are the source's own. What is not certain is left out."
_MISSING: Final = "(It has no guide yet: one is made after the source is indexed.)"
_NOTHING: Final = "(Its guide is empty: nothing of it is certain. Take get_outline.)"


def outline(scope: Scope, reference: str, *, room: int) -> str:
    """Write the chapters and the outline of a source or video, within ``room`` tokens.

    Raises ``SourceNotFound``, ``VideoNotFound``.
    """
    try:
        source = find_source(scope, reference)
    except SourceNotFound:
        video = library.find_video(scope, reference)
        return f"{video.title[:TITLE]}\n\n{_unfinished(video.chapters)}"
    head = _head(source)
    chapters = source.video.chapters if source.video else ()
    outline = storage.outline(source)
    if outline.whole is None:
        return f"{head}\n\n{_unfinished(chapters)}"
    listed = _chapters(chapters, room=room // 3)
    parts = []
    for node in (outline.whole, *outline.parts):
        where = f" [{place(node)}]" if place(node) else ""
        title = f"## {node.title[:TITLE] or node.get_level_display()}{where}"
        parts.append("\n".join(filter(None, (title, node.abstract[:PART], node.text[:PART]))))
    count = fitting(map(tokens, parts), room=room - tokens(head + _VERBATIM + listed) - 2 * NAME)
    remaining = outline.more + len(parts) - count
    rest = f"(… {remaining} parts more; source://{source.uuid} has the whole text.)"
    sections = (f"{head}\n{_VERBATIM}", listed, *parts[:count], rest if remaining else "")
    return "\n\n".join(filter(None, sections))


def guide(scope: Scope, reference: str, *, room: int) -> str:
    """Write the guide to a source, within ``room`` tokens. Raises ``SourceNotFound``."""
    source = find_source(scope, reference)
    head, guide = _head(source), guide_storage.of(source)
    if guide is None or guide.is_empty:
        return f"{head}\n\n{_MISSING if guide is None else _NOTHING}"
    lines = []
    for kind in KINDS:
        for number, item in enumerate(getattr(guide, kind)):
            where = f"[{item.place}] " if item.place else ""
            label = f"{item.title}: " if item.label else ""
            line = f"- {where}{label}{item.sentence}".rstrip(": ")
            lines.append(line if number else f"## {TITLES[kind]}\n{line}")
    count = fitting((tokens(line) + 1 for line in lines), room=room - tokens(head + _ABOUT) - NAME)
    remaining = len(lines) - count
    rest = [f"(… {remaining} more; raise maxTokens.)"] if remaining else []
    return "\n".join([head, _ABOUT, *lines[:count], *rest])


def contents(scope: Scope, video: Video, *, room: int) -> str:
    """Write a table of contents: the chapters, else the sections with a sentence of each.

    "" where neither is known.
    """
    if video.chapters:
        return _chapters(video.chapters, room=room)
    source = Source.objects.visible(scope).filter(video=video).first()
    outline = storage.outline(source) if source else storage.Outline()
    if outline.whole is None:
        return ""
    lines = []
    for node in outline.parts:
        text = node.abstract or node.text
        sentence = shorten(text, room=SENTENCE // 4) + ("…" if len(text) > SENTENCE else "")
        lines.append(f"- [{place(node)}] {node.title[:TITLE]}: {sentence}")
    return _listed("Outline:", lines, room=room)


def _head(source: Source) -> str:
    about = (source.title[:TITLE], source.author[:NAME], f"sourceId={source.uuid}")
    return "\n".join(filter(None, about))


def _chapters(chapters: Sequence[tuple[int, str]], *, room: int) -> str:
    lines = [f"- [{clock(start)}] {title[:TITLE]}" for start, title in chapters]
    return _listed("Chapters:", lines, room=room) if lines else ""


def _listed(heading: str, lines: Sequence[str], *, room: int) -> str:
    count = fitting(map(tokens, lines), room=room)
    rest = [f"(… {len(lines) - count} more)"] if count < len(lines) else []
    return "\n".join([heading, *lines[:count], *rest])


def _unfinished(chapters: Sequence[tuple[int, str]]) -> str:
    missing = "(It has no outline yet: it is still being indexed.)"
    return "\n\n".join(filter(None, (_chapters(chapters, room=1_000), missing)))
