"""Actions on the selected items of the library."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from citations.ingest import item_details, selection, title_proposals
from citations.ingest.selection import ChosenItems
from citations.models import Source
from citations.notebook import archives
from citations.tasks import send as send_source
from citations.tasks import send_archive
from citations.views import undo
from citations.views.undo import Sentence, counted, joined, tell_missing
from transcripts.core import languages
from transcripts.core.errors import Conflict, InvalidInput
from transcripts.core.scope import Scope
from transcripts.core.translation import quoted, translated_error
from transcripts.core.views.requests import PageRequest, back
from transcripts.library import collections
from transcripts.library import reading as library
from transcripts.models import Collection
from transcripts.tasks import send as send_job

MAX_TITLES: Final = 5  # titles in a message
Outcome: TypeAlias = tuple[int, str]  # how many items were changed, and the message
Tags: TypeAlias = Mapping[str, frozenset[str]]  # of items, by their references


@require_POST
def change(request: PageRequest) -> HttpResponse:
    """Do one thing with all selected items, and return to the list; an export has a page."""
    if request.POST.get("action") == "rename":
        chosen = selection.select(request.access, request.POST.getlist("item"))
        tell_missing(request, chosen)
        rows = item_details.by_reference(chosen)
        return _titles(request, rows, titles=rows)
    name = request.POST.get("action", "")
    action = ACTIONS.get(name)
    if action is None:
        raise InvalidInput("What is to be done is not known.", hint="Reload the library.")
    references, is_change = request.POST.getlist("item"), name != "export"
    chosen = selection.select(request.access, references, write=is_change)
    try:
        outcome = action(request, chosen)
    except (InvalidInput, Conflict) as error:  # shown on the list, where another can be chosen
        messages.error(request, translated_error(error))
        _keep_chosen(request)
        return back(request, reverse("library"))
    if name not in LEAVING:
        _keep_chosen(request)
    if outcome[1]:
        (messages.success if outcome[0] else messages.warning)(request, outcome[1])
    tell_missing(request, chosen)
    return redirect("archive") if name == "export" else back(request, reverse("library"))


@require_POST
def rename(request: PageRequest) -> HttpResponse:
    """Save the titles of several items, or show them again: with proposed ones that are taken over,
    or with the fault of one.

    Nothing stays chosen: in a list by title, the items may be out of sight now.
    """
    chosen = selection.select(request.access, request.POST.getlist("item"))
    rows = item_details.by_reference(chosen)
    fields = {reference: f"title-{reference}" for reference in rows}
    form = request.POST
    titles = {reference: form[name] for reference, name in fields.items() if name in form}
    if "take" in form:
        taken = {**rows, **titles, **_taken(form["take"], title_proposals.of(rows))}
        return _titles(request, rows, titles=taken)
    before = {reference: str(row) for reference, row in rows.items()}
    try:
        count = item_details.rename(chosen, titles)
    except InvalidInput as error:
        return _titles(request, rows, titles={**rows, **titles}, error=error)
    changed = {name: title for name, title in before.items() if str(rows[name]) != title}
    text = ngettext("%(count)s item renamed.", "%(count)s items renamed.", count)
    if changed:
        undo.offer(request, undo.RENAME, counted(text, count), changed)
    else:
        messages.success(request, counted(text, count))
    tell_missing(request, chosen)
    return back(request, reverse("library"))


def _taken(taken: str, proposals: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the proposed titles that were taken over: one, such as ``video-12 0``, or ``all``."""
    if taken == "all":
        return {reference: titles[0] for reference, titles in proposals.items() if titles}
    reference, _, place = taken.partition(" ")
    titles = dict(enumerate(proposals.get(reference, ())))
    return {reference: titles[int(place)]} if place.isdecimal() and int(place) in titles else {}


def _keep_chosen(request: PageRequest) -> None:
    """Have the list that is shown next show the same items as chosen."""
    request.session["chosen"] = request.POST.getlist("item")


def _titles(
    request: PageRequest,
    items: Mapping[str, object],
    *,
    titles: Mapping[str, object],
    error: InvalidInput | None = None,
) -> HttpResponse:
    """Show the titles in an editable list, in the order in which the items stood, each with the
    first words of its item, which tell what “rec 003” is, and with others that it may have.

    An error is shown beside the title that it complains of.
    """
    words, proposals = item_details.first_words(items), title_proposals.of(items)
    order = [key for key in dict.fromkeys(request.POST.getlist("item")) if key in items]
    focused = error.complaints[0][0] if error else "".join(order[:1])
    context = {
        "rows": [(key, str(titles[key]), words.get(key, ""), proposals[key]) for key in order],
        "has_proposals": any(proposals.values()),
        "next": request.POST.get("next", ""),
        "error": error,
        "focused": focused,
    }
    return render(request, "citations/rename.html", context, status=422 if error else 200)


def _tag(request: PageRequest, chosen: ChosenItems) -> Outcome:
    before = _tags_of(chosen)
    count = selection.tag(chosen, add=_tags(request))
    tagged = ngettext("%(count)s item tagged.", "%(count)s items tagged.", count)
    return _with_undo(request, chosen, before, (count, tagged))


def _untag(request: PageRequest, chosen: ChosenItems) -> Outcome:
    before = _tags_of(chosen)
    count = selection.tag(chosen, remove=_tags(request))
    changed = ngettext(
        "The tags of %(count)s item were changed.",
        "The tags of %(count)s items were changed.",
        count,
    )
    return _with_undo(request, chosen, before, (count, changed))


def _with_undo(
    request: PageRequest, chosen: ChosenItems, before: Tags, sentence: Sentence
) -> Outcome:
    """Return what became of tags; the list says so itself where that can be undone."""
    lectures = len(chosen.lectures)
    left_out = ngettext(
        "%(count)s lecture was left out: lectures have no tags.",
        "%(count)s lectures were left out: lectures have no tags.",
        lectures,
    )
    text = joined(sentence, (lectures, left_out))
    after = _tags_of(chosen)
    former = {"added": _by_tag(after, before), "removed": _by_tag(before, after)}
    if not any(former.values()):
        return sentence[0], text
    undo.offer(request, undo.TAGS, text, former)
    return sentence[0], ""


def _tags_of(chosen: ChosenItems) -> Tags:
    """Return the tags that items have now, by reference; lectures have none."""
    rows = item_details.by_reference(chosen)
    return {reference: frozenset(getattr(row, "tags", ())) for reference, row in rows.items()}


def _by_tag(some: Tags, others: Tags) -> dict[str, list[str]]:
    """Return the items by each tag that they have among some and not among others."""
    items: dict[str, list[str]] = {}
    for reference, tags in some.items():
        for tag in sorted(tags - others[reference]):
            items.setdefault(tag, []).append(reference)
    return items


def _set_language(request: PageRequest, chosen: ChosenItems) -> Outcome:
    text = request.POST.get("language", "")
    count, sources = item_details.set_language(chosen, text)
    name = languages.name_of(languages.parse(text))
    for source in sources:
        send_source(source)
    text = ngettext(
        "The language of %(count)s item is %(language)s now.",
        "The language of %(count)s items is %(language)s now.",
        count,
    )
    others = chosen.count - count
    left_out = ngettext(
        "%(count)s item was left out: it came from YouTube, or has several languages.",
        "%(count)s items were left out: they came from YouTube, or have several languages.",
        others,
    )
    return count, joined((count, text), (others, left_out), language=name)


def _move(request: PageRequest, chosen: ChosenItems) -> Outcome:
    name = request.POST.get("collection", "")
    if not name:
        raise InvalidInput("No collection is chosen.", hint="Choose one, or name a new one.")
    return _moved(request, request.access, chosen, library.find_collection(request.access, name))


def _move_to_new(request: PageRequest, chosen: ChosenItems) -> Outcome:
    access = request.access
    with transaction.atomic():
        target = collections.create(request.POST.get("new", ""), owner=request.user)
        own = frozenset({target.pk})
        scope = Scope(readable=access.readable | own, writable=access.writable | own)
        return _moved(request, scope, chosen, target)


def _moved(request: PageRequest, scope: Scope, chosen: ChosenItems, target: Collection) -> Outcome:
    """Move items; the list says so itself where that can be undone."""
    rows = item_details.by_reference(chosen)
    origins = {reference: row.collection for reference, row in rows.items()}
    count, stayed = selection.move(scope, chosen, target)
    sentences = _move_sentences(chosen, moved=count, stayed=len(stayed))
    titles = ", ".join(map(quoted, stayed[:MAX_TITLES]))
    titles += " …" if stayed[MAX_TITLES:] else ""
    text = joined(*sentences, name=target, titles=titles)
    unmoved = {*stayed, *chosen.lectures}
    moved = {
        reference: origin.slug
        for reference, origin in origins.items()
        if origin != target and rows[reference] not in unmoved
    }
    if not moved:
        return count, text
    undo.offer(request, undo.MOVE, text, {"to": target.slug, "origins": moved})
    return count, ""


def _move_sentences(chosen: ChosenItems, *, moved: int, stayed: int) -> Iterator[Sentence]:
    """Yield what became of the items: each moved, stayed, was there already, or is a lecture."""
    lectures = len(chosen.lectures)
    present = chosen.count - moved - stayed - lectures
    text = ngettext(
        "%(count)s item moved to “%(name)s”.", "%(count)s items moved to “%(name)s”.", moved
    )
    yield moved, text
    text = ngettext(
        "%(count)s item stayed, as “%(name)s” has it already: %(titles)s.",
        "%(count)s items stayed, as “%(name)s” has them already: %(titles)s.",
        stayed,
    )
    yield stayed, text
    text = ngettext(
        "%(count)s item is in “%(name)s” already.",
        "%(count)s items are in “%(name)s” already.",
        present,
    )
    yield present, text
    text = ngettext(
        "%(count)s lecture stayed with what it cites.",
        "%(count)s lectures stayed with what they cite.",
        lectures,
    )
    yield lectures, text


def _index(request: PageRequest, chosen: ChosenItems) -> Outcome:
    sources = selection.index_again(chosen)
    for source in sources:
        send_source(source)
    count = _having_text(sources)
    text = ngettext(
        "%(count)s item will be indexed again.", "%(count)s items will be indexed again.", count
    )
    return count, joined((count, text), _without_text(chosen.count - count))


def _put_first(request: PageRequest, chosen: ChosenItems) -> Outcome:
    sources = selection.put_first(chosen)
    for source in sources:
        send_source(source)
    count = _having_text(sources)
    text = ngettext("%(count)s item is indexed next.", "%(count)s items are indexed next.", count)
    left_out = ngettext(
        "%(count)s item was left out: it does not wait to be indexed.",
        "%(count)s items were left out: they do not wait to be indexed.",
        others := chosen.count - count,
    )
    return count, joined((count, text), (others, left_out))


def _fetch(request: PageRequest, chosen: ChosenItems) -> Outcome:
    jobs = selection.fetch_again(chosen, by=request.user)
    for job in jobs:
        send_job(job)
    count, others = len(jobs), chosen.count - len(jobs)
    text = ngettext(
        "%(count)s item will be fetched again.", "%(count)s items will be fetched again.", count
    )
    left_out = ngettext(
        "%(count)s item was left out: it did not come from YouTube.",
        "%(count)s items were left out: they did not come from YouTube.",
        others,
    )
    return count, joined((count, text), (others, left_out))


def _export(request: PageRequest, chosen: ChosenItems) -> Outcome:
    sources = selection.with_text(chosen)
    archive = archives.request(request.access, request.user, sources=sources)
    if archive.sent_at is None:
        send_archive(archive)
    # The page of the archive says how far it is.
    return 0, joined(_without_text(chosen.count - _having_text(sources)))


def _having_text(sources: Iterable[Source]) -> int:
    """Count the items that these sources belong to."""
    return len({("video", source.video_id) if source.video_id else source.pk for source in sources})


def _without_text(count: int) -> Sentence:
    text = ngettext(
        "%(count)s item was left out: it is a lecture, or has no text yet.",
        "%(count)s items were left out: they are lectures, or have no text yet.",
        count,
    )
    return count, text


def _delete(request: PageRequest, chosen: ChosenItems) -> Outcome:
    selection.delete(chosen, by=request.user)
    return chosen.count, ""  # the library says so, beside the way back


def _tags(request: PageRequest) -> list[str]:
    return request.POST.get("tags", "")[:500].split(",")


ACTIONS: Final[dict[str, Callable[[PageRequest, ChosenItems], Outcome]]] = {
    "tag": _tag,
    "untag": _untag,
    "language": _set_language,
    "move": _move,
    "move-to-new": _move_to_new,
    "index": _index,
    "first": _put_first,
    "fetch": _fetch,
    "export": _export,
    "delete": _delete,
}
LEAVING: Final = frozenset({"move", "move-to-new", "export", "delete"})  # what was chosen then
