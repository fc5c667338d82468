"""What an answer says about the library: what can be asked of it, and what is not ready yet."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Protocol

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from citations.answers.answer import Preparation, UnreadySource
from citations.answers.question.router import is_overview, subject
from citations.answers.question.wording import content_words, is_greeting
from citations.formats import VIDEO
from citations.library.filters import Filter, matching
from citations.models import State
from transcripts.core.alphabet import alphabetical
from transcripts.core.scope import Scope
from transcripts.core.translation import quoted
from transcripts.models import Collection, Job
from transcripts.text.timecodes import watch_url

TITLES: Final = 3  # that are named
MAX_UNREADY: Final = 100  # sources that an answer keeps
_TITLE: Final = 80  # characters
_PREPARATION: Final = {State.PENDING: Preparation.INDEXING, State.WORDS: Preparation.EMBEDDING}


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
        return "There is nothing to ask yet: add recordings or documents first."
    titles = [title for _, title in rows]
    names = ", ".join(dict.fromkeys(f"“{title[:_TITLE]}”" for title in titles[:TITLES]))
    if rest := max(0, len(titles) - TITLES):
        names += f" and {rest:,} other{'' if rest == 1 else 's'}"
    kinds = Counter(kind == VIDEO for kind, _ in rows)
    counts = " and ".join(
        f"{kinds[is_video]:,} {name}{'' if kinds[is_video] == 1 else 's'}"
        for is_video, name in ((True, "recording"), (False, "document"))
        if kinds[is_video]
    )
    return (
        f"Ask about what is said in {counts}: {names}. For example: “What is"
        f" “{titles[0][:_TITLE]}” about?”, “What does “{titles[-1][:_TITLE]}” say about …?”, “How"
        " does … work?”, “What are the main topics?”. Every citation of an answer is checked word"
        " for word."
    )


class Unready(Protocol):
    @property
    def title(self) -> str: ...


def unready_note(sources: Sequence[Unready]) -> str:
    """Say which sources were not ready when an answer was given; nothing where all were."""
    if not sources:
        return ""
    titles = ", ".join(quoted(source.title[:_TITLE]) for source in sources[:TITLES])
    if len(sources) > TITLES:
        titles = _("%(titles)s and others") % {"titles": titles}
    if len(sources) >= MAX_UNREADY:
        many = _("Many sources were not ready yet when you asked, such as %(titles)s.")
        return many % {"titles": titles}
    return ngettext(
        "%(count)d source was not ready yet when this was asked: %(titles)s.",
        "%(count)d sources were not ready yet when this was asked: %(titles)s.",
        len(sources),
    ) % {"count": len(sources), "titles": titles}


def unready_sources(scope: Scope, filter: Filter) -> tuple[UnreadySource, ...]:
    """Return the sources that match and that a search does not find, or only by their words.

    Sources that are being fetched count unless the filter asks for more than collections: what it
    will match is not known yet.
    """
    rows = matching(scope, filter).filter(state__in=_PREPARATION)
    columns = rows.values_list("uuid", "title", "state", "collection")
    sources = tuple(
        UnreadySource(
            title=title, state=_PREPARATION[State(state)], collection=collection, source_id=uuid
        )
        for uuid, title, state, collection in columns.order_by(alphabetical("title"), "pk")[
            :MAX_UNREADY
        ]
    )
    return (*sources, *_arriving(scope, filter))[:MAX_UNREADY]


def _arriving(scope: Scope, filter: Filter) -> list[UnreadySource]:
    """Return the sources that are fetched from YouTube, or read from files, for the first time."""
    if filter.model_copy(update={"collections": ()}).narrows_sources:
        return []
    jobs = Job.objects.visible(scope).unfinished().filter(video=None).exclude(kind=Job.Kind.FEED)
    if filter.collections:
        named = Collection.objects.visible(scope).named
        jobs = jobs.filter(collection__in=[named(name).pk for name in filter.collections])
    rows = jobs.order_by("pk").values_list("kind", "target", "collection")
    return [
        UnreadySource(
            title=watch_url(target) if kind == Job.Kind.VIDEO else target,
            state=Preparation.READING if kind == Job.Kind.FILES else Preparation.FETCHING,
            collection=collection,
        )
        for kind, target, collection in rows[:MAX_UNREADY]
    ]
