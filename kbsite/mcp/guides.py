"""What a source is about and what it answers, in its own sentences, within a token budget."""

from typing import Final

from citations.guide import storage
from citations.guide.items import KINDS, GuideItem
from citations.library.filters import find_source
from kbsite.mcp.budget import NAME, fitting, tokens
from kbsite.mcp.outlines import head_of
from transcripts.core.scope import Scope

TITLES: Final = {
    "about": "About",
    "terms": "Key terms",
    "names": "Names",
    "numbers": "Numbers",
    "questions": "Questions that it answers",
}
_ABOUT: Final = "All sentences are the source's own. What is not certain is left out."
_MISSING: Final = "(It has no guide yet: one is made after the source is indexed.)"
_NOTHING: Final = "(Its guide is empty: nothing of it is certain. Take get_outline.)"


def write(scope: Scope, reference: str, *, room: int) -> str:
    """Write the guide to a source, within ``room`` tokens. Raises ``SourceNotFound``."""
    source = find_source(scope, reference)
    head = head_of(source)
    guide = storage.of(source)
    if guide is None or guide.is_empty:
        return f"{head}\n\n{_MISSING if guide is None else _NOTHING}"
    lines = [
        f"## {TITLES[kind]}\n{_line(item)}" if not number else _line(item)
        for kind in KINDS
        for number, item in enumerate(getattr(guide, kind))
    ]
    count = fitting((tokens(line) + 1 for line in lines), room=room - tokens(head + _ABOUT) - NAME)
    remaining = len(lines) - count
    rest = [f"(… {remaining} more; raise maxTokens.)"] if remaining else []
    return "\n".join([head, _ABOUT, *lines[:count], *rest])


def _line(item: GuideItem) -> str:
    where = f"[{item.place}] " if item.place else ""
    label = f"{item.title}: " if item.label else ""
    return f"- {where}{label}{item.sentence}".rstrip(": ")
