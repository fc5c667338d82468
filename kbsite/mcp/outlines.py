"""What is where in a source: its chapters, and its summary section by section."""

from collections.abc import Sequence

from citations.errors import SourceNotFound
from citations.library.filters import find_source
from citations.models import Node, Source
from citations.outline import storage
from citations.passages import place
from kbsite.mcp.budget import NAME, TITLE, fitting, shorten, tokens
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Video
from transcripts.text.timecodes import clock

PART = 1_500  # characters of one section's summary
SENTENCE = 160  # characters of a section's summary in a table of contents
_VERBATIM = "The sentences are the source's own; abstracts are a language model's."


def write(scope: Scope, reference: str, *, room: int) -> str:
    """Write the chapters and the outline of a source or video, within ``room`` tokens.

    Raises ``SourceNotFound``, ``VideoNotFound``.
    """
    try:
        source = find_source(scope, reference)
    except SourceNotFound:
        video = library.find_video(scope, reference)
        return f"{video.title[:TITLE]}\n\n{_unfinished(video.chapters)}"
    head = head_of(source)
    chapters = source.video.chapters if source.video else ()
    outline = storage.outline(source)
    if outline.whole is None:
        return f"{head}\n\n{_unfinished(chapters)}"
    listed = _chapters(chapters, room=room // 3)
    parts = [_part(node) for node in (outline.whole, *outline.parts)]
    count = fitting(map(tokens, parts), room=room - tokens(head + _VERBATIM + listed) - 2 * NAME)
    remaining = outline.more + len(parts) - count
    rest = (
        f"(… {remaining} parts more; source://{source.uuid} has the whole text.)"
        if remaining
        else ""
    )
    sections = (f"{head}\n{_VERBATIM}", listed, *parts[:count], rest)
    return "\n\n".join(part for part in sections if part)


def head_of(source: Source) -> str:
    """Return the title, the author and the id of a source."""
    about = (source.title[:TITLE], source.author[:NAME], f"sourceId={source.uuid}")
    return "\n".join(part for part in about if part)


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
    lines = [f"- [{place(node)}] {node.title[:TITLE]}: {_sentence(node)}" for node in outline.parts]
    return _listed("Outline:", lines, room=room)


def _chapters(chapters: Sequence[tuple[int, str]], *, room: int) -> str:
    lines = [f"- [{clock(start)}] {title[:TITLE]}" for start, title in chapters]
    return _listed("Chapters:", lines, room=room) if lines else ""


def _listed(heading: str, lines: Sequence[str], *, room: int) -> str:
    count = fitting(map(tokens, lines), room=room)
    rest = [f"(… {len(lines) - count} more)"] if count < len(lines) else []
    return "\n".join([heading, *lines[:count], *rest])


def _unfinished(chapters: Sequence[tuple[int, str]]) -> str:
    missing = "(It has no outline yet: it is still being indexed.)"
    return "\n\n".join(part for part in (_chapters(chapters, room=1_000), missing) if part)


def _sentence(node: Node) -> str:
    text = node.abstract or node.text
    return shorten(text, room=SENTENCE // 4) + ("…" if len(text) > SENTENCE else "")


def _part(node: Node) -> str:
    where = place(node)
    title = f"## {node.title[:TITLE] or node.get_level_display()}{f' [{where}]' if where else ''}"
    return "\n".join(part for part in (title, node.abstract[:PART], node.text[:PART]) if part)
