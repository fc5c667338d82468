"""What an answer says about the library: what can be asked of it, and what is not embedded yet."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from citations.answers.question.router import is_overview, subject
from citations.answers.question.wording import content_words, is_greeting
from citations.library.filters import Filter, matching
from citations.models import SourceKind, State
from transcripts.scope import Scope

TITLES: Final = 3  # that are named
_TITLE: Final = 80  # characters
_EMPTY: Final = "There is nothing to ask yet: add recordings or documents first."


def needs_help(scope: Scope, filter: Filter, message: str, *, is_first: bool) -> bool:
    """Tell whether a message asks nothing that can be looked up.

    It greets, or is the first message and has neither a content word nor asks for an overview, or
    there are no sources to sum up.
    """
    if is_greeting(message):
        return True
    if is_overview(message):
        return not subject(message) and not matching(scope, filter).exists()
    return is_first and not content_words(message)


def help_note(scope: Scope, filter: Filter) -> str:
    """Say what can be asked, with examples from the library."""
    sources = matching(scope, filter).order_by("-created_at", "-pk")
    rows = sources.values_list("kind", "title")
    if not rows:
        return _EMPTY
    titles = [title for _, title in rows]
    kinds = Counter(kind == SourceKind.VIDEO for kind, _ in rows)
    counts = " and ".join(
        f"{kinds[is_video]:,} {name}{'' if kinds[is_video] == 1 else 's'}"
        for is_video, name in ((True, "recording"), (False, "document"))
        if kinds[is_video]
    )
    return (
        f"Ask about what is said in {counts}: {_named(titles)}. For example: “What is"
        f" “{titles[0][:_TITLE]}” about?”, “What does “{titles[-1][:_TITLE]}” say about …?”, “How"
        " does … work?”, “What are the main topics?”. Every citation of an answer is checked word"
        " for word."
    )


def gap_note(scope: Scope, filter: Filter) -> str:
    """Say which of the sources are not embedded yet; nothing where all are."""
    sources = matching(scope, filter)
    missing = sources.exclude(state=State.READY).order_by("title", "pk")
    titles = list(missing.values_list("title", flat=True))
    if not titles:
        return ""
    total = sources.count()
    noun = "source is" if total == 1 else "sources are"
    return f"{len(titles):,} of {total:,} {noun} not embedded yet: {_named(titles)}."


def _named(titles: Sequence[str]) -> str:
    names = list(dict.fromkeys(f"“{title[:_TITLE]}”" for title in titles[:TITLES]))
    rest = len(titles) - TITLES
    others = f" and {rest:,} other{'' if rest == 1 else 's'}" if rest > 0 else ""
    return f"{', '.join(names)}{others}"
